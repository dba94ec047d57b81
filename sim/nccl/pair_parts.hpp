#pragma once
// Latency L and transfer X of one operation with one pair of algorithm and protocol (CLU 6.2, 7.2,
// 7.3).
//
//   L = base + hops                     X = bytes on the busiest port / rate of the bus
//
// The published estimate and the calibrated cost use the same forms; the estimate has
// published_multipliers(). They differ in three places:
//   broadcast   the estimate has one network hop per rank, the cost one per node
//   nvls_tree   only the estimate has kNvlsTreeEstimateShare and the cap kCapNvlsTree
//   collnet     the estimate is the faster of NCCL's two forms, the cost uses in_network.hpp

#include <cstddef>

#include "nccl/layout.hpp"
#include "nccl/multipliers.hpp"

namespace stepsim::nccl {

struct Pair {
  Algorithm algorithm{};
  Protocol protocol = Protocol::simple;
  bool operator==(const Pair&) const = default;
};

struct Parts {
  double latency_s{};
  double transfer_s{};
  Limit limit{};            // what limits the transfer
  double least_latency_s{}; // latency term of the lower bound, with the hops of this pair (CLU 4)
  // Calibrated rates for the lower bound, bytes/s.
  double inner_Bps{}; // B_i: per GPU inside its node
  double nics_Bps{};  // B_x: all cards of a node
};

// Inputs of collnet that a layout does not have.
struct CollnetOptions {
  double switch_latency_s = 1e-6; // sigma of CLU 5.3
  int chunks = 1;                 // 1 .. 1024
};

enum class View { estimate, cost };

// Returns the parts for `bytes` >= 0 and a pair that candidates() offers for the operation.
// View::estimate needs published_multipliers().
[[nodiscard]] Parts pair_parts(const Layout& layout, Operation operation, double bytes, Pair pair,
                               const Multipliers& multipliers, View view,
                               const CollnetOptions& collnet = {});

// Returns the number of channels, q of CLU 6.2: ring_channels() for rings, pat and collnet,
// tree_channels() for trees (ring_tree.hpp), 16 for nvls and nvls_tree, 1 for point-to-point.
[[nodiscard]] int channels(const Layout& layout, Pair pair, const Multipliers& multipliers);

// Functions that the forms share.

inline constexpr double kMicrosecond = 1e-6;
inline constexpr double kGigabyte = 1e9;

// Index of the protocol in the published tables.
[[nodiscard]] constexpr std::size_t index(Protocol protocol) {
  return static_cast<std::size_t>(protocol);
}
// Returns 1 + psi ((R - 1) / 7)^2, the factor on the latency of a network hop if a node uses R
// cards; psi is Parameter::rail (CLU 7).
[[nodiscard]] double rail_factor(const Layout& layout, const Multipliers& multipliers);
// Return the protocol's factor on a hop inside a node, and on a network hop.
[[nodiscard]] double inner_factor(Protocol protocol, const Multipliers& multipliers);
[[nodiscard]] double network_factor(Protocol protocol, const Multipliers& multipliers);
// Returns the rate that LL cannot exceed, bytes/s. On several nodes it depends on the host's
// processors.
[[nodiscard]] double ll_cap(const Layout& layout);
// Returns the Limit that stands for the link inside a node.
[[nodiscard]] Limit inner_limit(const Layout& layout);

} // namespace stepsim::nccl
