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
//   collnet     the estimate is the faster of NCCL's two forms, the cost uses pair_parts.hpp

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

enum class View { estimate, cost };

// Returns the parts for `bytes` >= 0 and a pair that candidates() offers for the operation.
// View::estimate needs published_multipliers().
[[nodiscard]] Parts pair_parts(const Layout& layout, Operation operation, double bytes, Pair pair,
                               const Multipliers& multipliers, View view);

// Returns the number of channels, q of CLU 6.2: ring_channels() for rings, pat and collnet,
// tree_channels() for trees (pair_parts.hpp), 16 for nvls and nvls_tree, 1 for point-to-point.
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

// Latency and transfer of NCCL's rings and double trees (CLU 6.2), with calibrated multipliers.
// Internal to pair_parts.

// Returns the parts of a ring, for every operation but alltoall.
[[nodiscard]] Parts ring_parts(const Layout& layout, Operation operation, double bytes,
                               Protocol protocol, const Multipliers& multipliers, View view);

// Returns the parts of a double tree, for an all-reduce.
[[nodiscard]] Parts tree_parts(const Layout& layout, double bytes, Protocol protocol,
                               const Multipliers& multipliers);

// Return the number of channels, q of CLU 6.2. On several nodes a ring has one channel per card; on
// one node their number follows from the published rate. The channels of a tree follow from the
// calibrated rate.
[[nodiscard]] double ring_channels(const Layout& layout);
[[nodiscard]] double tree_channels(const Layout& layout, const Multipliers& multipliers);

// Formulas of reduction inside switches (CLU 5): in a node (NVLS), in nodes with a double tree
// across (nvls_tree), and in the network (collnet, SHARP). pair_parts applies them to a system.

// Returns the seconds of NVLS. Every GPU reads its share of n bytes, reduced by the switch, and
// writes it back as a multicast, so it sends n + n/G bytes at `rate_Bps`: T = start-up + n (1 +
// 1/G) / rate. Derived, CLU 5.1.
[[nodiscard]] double nvls_seconds(double bytes, double gpus, double startup_s, double rate_Bps);

// Returns the bytes per second of nvls_tree: the lesser of the switch, rate / (1 + 1/G), and the
// cards of a node, which reach half of their rate if the double tree spans more than two nodes (CLU
// 5.2).
[[nodiscard]] double nvls_tree_Bps(double nodes, double gpus, double rate_Bps, double nics_Bps);

// Links of the three stages of collnet.
struct CollnetLinks {
  double nodes{};
  double gpus{};                 // G, per node
  double nics{};                 // R <= G
  double inner_latency_s{};      // alpha_i
  double inner_per_byte_s{};     // beta_i of a GPU
  double network_latency_s{};    // alpha_e
  double network_per_byte_s{};   // beta_e of a card
  double reduction_per_byte_s{}; // gamma
  double switch_latency_s{};     // sigma
};

// Returns the seconds of collnet: a ring reduce-scatter in the nodes, a sum in the network and a
// ring all-gather in the nodes, pipelined in C = `chunks` equal chunks of m bytes: t1 + t2 + t3 +
// (C - 1) max(t1, t2, t3) with
//   t1 = (G-1)(alpha_i + (beta_i + gamma) m/G)     t3 = (G-1)(alpha_i + beta_i m/G)
//   t2 = 2 alpha_e + sigma + ceil(G/R) beta_e m/G
// Derived, CLU 5.3.
[[nodiscard]] double collnet_seconds(double bytes, const CollnetLinks& links, int chunks);

// Returns the seconds of collnet with NVLS, as one stage, in place of the two rings: t1 + t2 +
// (C - 1) max(t1, t2), where t1 is nvls_seconds() of a chunk.
[[nodiscard]] double collnet_nvls_seconds(double bytes, const CollnetLinks& links, int chunks,
                                          double nvls_startup_s, double nvls_Bps);

} // namespace stepsim::nccl
