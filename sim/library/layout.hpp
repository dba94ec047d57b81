#pragma once
// A node type, and the layout that a shape (nodes, GPUs per node) of it gives: the numbers N, G, P
// and R of CLU 2 with the rates that the published estimate starts from.
//
// Where D machines form one NVLink domain (CLU 3.7), N' = N/D domains of G' = D G GPUs with D times
// the cards take the place of nodes. A rack of 18 machines of 4 GPUs, shape 18x4, is thus 1x72.
#include <cstddef>
#include <cstdint>
#include <string>

#include "library/library_words.hpp"

namespace stepsim::library {

struct NodeType {
  std::string name;
  std::uint32_t gpus = 1; // per machine
  double ring_Bps{};      // r_n: what a ring inside a node reaches, per GPU and direction
  std::uint32_t nics = 1; // per machine; 0 is refused
  double nic_Bps{};       // of one network card and direction
  Generation generation{};
  Host host{};
  InnerLink link{};
  bool in_switch_reduction = false; // NVLS
  bool ll128 = true;
  std::uint32_t domain_nodes = 1; // D
  bool approximate = false;       // its library is modelled by the choice of another (RCCL by NCCL)
};

struct Shape {
  std::uint32_t nodes = 1;
  std::uint32_t gpus = 1; // per node, of the largest where they differ
  // Of unequal nodes (CLU 3.6): GPUs of the smallest, and of all together; else 0.
  std::uint32_t smallest = 0;
  std::uint32_t ranks = 0;
  bool operator==(const Shape&) const = default;
};

// "10x8", or "10x4..8" of unequal nodes.
[[nodiscard]] std::string text(Shape shape);

struct Layout {
  double nodes{};         // N, domains of machines included
  double gpus{};          // G
  double ranks{};         // P = N G, or the sum over unequal nodes
  double nics{};          // R <= G: cards in use, of unequal nodes those of the smallest
  double smallest_gpus{}; // G, or that of the smallest node
  double ring_Bps{};
  double nics_Bps{};    // x = R times the rate of a card
  std::size_t column{}; // of PerNodes: 0 one node, 1 two, 2 more
  std::size_t row{};    // of constants by Generation
  int floor_log2_nodes{};
  int ceil_log2_nodes{};
  int ceil_log2_gpus{};
  Host host{};
  InnerLink link{};
  bool in_switch_reduction{};
  bool ll128{};
};

// Throws UsageError: no node, no GPU, more GPUs than the node type has, no rate, or a domain that
// does not divide the nodes. Fewer nodes than one domain has are one domain.
[[nodiscard]] Layout layout_of(const NodeType& node, Shape shape);

} // namespace stepsim::library
