#pragma once
// Latency and transfer of one operation by one pair of algorithm and protocol (CLU 6.2, 7.2, 7.3).
//
//   L = base + hops                     X = bytes on the busiest port / rate of the bus
//
// The published estimate and the calibrated cost are the same forms: the first with every
// multiplier as in published_multipliers(). They differ in three places. NCCL charges a broadcast
// one network hop per rank, and the cost one per node; the estimate of nvls_tree has a share and a
// cap that the cost drops; and for collnet the estimate is the faster of NCCL's two forms, the cost
// that of in_network.hpp.

#include <cstddef>

#include "library/layout.hpp"
#include "library/multipliers.hpp"

namespace stepsim::library {

struct Pair {
  Algorithm algorithm{};
  Protocol protocol = Protocol::simple;
  bool operator==(const Pair&) const = default;
};

struct Parts {
  double latency_s{};
  double transfer_s{};
  Limit limit{};            // of the transfer
  double least_latency_s{}; // latency term of the lower bound with the hops of this pair (CLU 4)
  // Calibrated rates that the lower bound takes, bytes/s.
  double inner_Bps{}; // of a GPU inside its node, B_i
  double nics_Bps{};  // of all cards of a node, B_x
};

// CollNet alone has more to say than a layout.
struct CollnetOptions {
  double switch_latency_s = 1e-6; // sigma of CLU 5.3
  int chunks = 1;                 // 1 .. 1024
};

enum class View { estimate, cost };

// `bytes` >= 0; the pair is one that candidates() offers for the operation. In view `estimate` the
// multipliers are published_multipliers().
[[nodiscard]] Parts pair_parts(const Layout& layout, Operation operation, double bytes, Pair pair,
                               const Multipliers& multipliers, View view,
                               const CollnetOptions& collnet = {});

// q of CLU 6.2: cards or channels that a ring uses, for pat and collnet the same, channels of a
// tree, 16 of nvls and nvls_tree, 1 for point-to-point.
[[nodiscard]] int channels(const Layout& layout, Pair pair, const Multipliers& multipliers);

// Pieces that the forms share.

inline constexpr double kMicrosecond = 1e-6;
inline constexpr double kGigabyte = 1e9;

// Place of the protocol in the published tables.
[[nodiscard]] constexpr std::size_t index(Protocol protocol) {
  return static_cast<std::size_t>(protocol);
}
// Growth of a network hop with the cards in use, psi of CLU 7: 1 + psi ((R - 1) / 7)^2.
[[nodiscard]] double rail_factor(const Layout& layout, const Multipliers& multipliers);
// Factor on a hop inside a node, and on a network hop, of the protocol.
[[nodiscard]] double inner_factor(Protocol protocol, const Multipliers& multipliers);
[[nodiscard]] double network_factor(Protocol protocol, const Multipliers& multipliers);
// Rate that LL cannot exceed, bytes/s. Several nodes take the column of the host's make.
[[nodiscard]] double ll_cap(const Layout& layout);
// The inner link as a limit.
[[nodiscard]] Limit inner_limit(const Layout& layout);

} // namespace stepsim::library
