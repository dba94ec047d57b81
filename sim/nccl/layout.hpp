#pragma once
// A node type, and the layout of a job on nodes of this type: for a shape (nodes, GPUs per node),
// the numbers N, G, P and R of CLU 2 and the rates from which the published estimate starts.
//
// If D machines form one NVLink domain (CLU 3.7), N' = N/D domains of G' = D G GPUs with D times as
// many cards take the place of nodes. A rack of 18 machines of 4 GPUs, shape 18x4, is thus 1x72.
#include <string>

#include "nccl/library_words.hpp"

namespace stepsim::nccl {

// How the rate of a link of a node type is known.
struct RateOrigin {
  bool of_sheet = false; // it is what a data sheet says
  bool fitted = false;   // it is what messages were found to reach
  double nominal_Bps{};  // what a data sheet says beside it; 0: nothing
  double deviation{};    // standard deviation of its logarithm between machines; 0: none is said
};

struct NodeType {
  std::string name;
  std::uint32_t gpus = 1; // per machine
  double ring_Bps{};      // r_n: rate of a ring inside a node, per GPU and direction
  std::uint32_t nics = 1; // per machine; 0 is refused
  double nic_Bps{};       // rate of a network card, per direction
  Generation generation{};
  Host host{};
  InnerLink link{};
  bool in_switch_reduction = false; // NVLS
  bool ll128 = true;
  std::uint32_t domain_nodes = 1; // D
  bool approximate = false;       // its library is modelled by another one (RCCL by NCCL)
  RateOrigin ring_origin{}, nic_origin{};
};

struct Shape {
  std::uint32_t nodes = 1;
  std::uint32_t gpus = 1; // per node; of the largest node if nodes differ
  // For unequal nodes (CLU 3.6), else 0: GPUs of the smallest node, and of all nodes together.
  std::uint32_t smallest = 0;
  std::uint32_t ranks = 0;
  bool operator==(const Shape&) const = default;
};

// Returns "10x8", or "10x4..8" for unequal nodes.
[[nodiscard]] std::string text(Shape shape);

struct Layout {
  double nodes{};         // N; domains if machines form domains
  double gpus{};          // G
  double ranks{};         // P = N G, or the sum over unequal nodes
  double nics{};          // R <= G: cards in use per node; if nodes differ, at the smallest node
  double smallest_gpus{}; // G, or GPUs of the smallest node
  double ring_Bps{};
  double nics_Bps{};    // x: R times the rate of a card
  std::size_t column{}; // index in PerNodes: 0 one node, 1 two, 2 more
  std::size_t row{};    // index in constants by Generation
  int floor_log2_nodes{};
  int ceil_log2_nodes{};
  int ceil_log2_gpus{};
  Host host{};
  InnerLink link{};
  bool in_switch_reduction{};
  bool ll128{};
};

// Returns the layout. If there are fewer nodes than a domain has, they form one domain. Throws
// UsageError for
//   no node, no GPU, more GPUs than the node type has, no rate or no network card;
//   unequal nodes in a domain, or a number of nodes that the domain does not divide.
[[nodiscard]] Layout layout_of(const NodeType& node, Shape shape);

} // namespace stepsim::nccl
