#pragma once
// The two trees of a double binary tree over equal ranks (equal_streams.hpp): how blocks advance is
// the same for most ranks and blocks, so that a few of them are played.
#include <vector>

#include "collectives/schedule/schedule.hpp"

namespace stepsim::collectives {

// Seconds that ranks and links of the collective take; the same for all.
struct StreamCosts {
  double enter_s{}, latency_s{}, block_latency_s{}, per_byte_s{}, reduction_s_per_byte{};
  bool serial{}; // an addition holds the receive port
};

// The part of equal_streams() for a phase of two trees, by local rank; counts neither events nor
// messages.
[[nodiscard]] std::vector<double> equal_trees(const Phase& phase, const StreamCosts& costs);

// Whether differences between `low` and `high` of times up to `end` are one up to rounding.
[[nodiscard]] inline bool same_advance(double low, double high, double end) {
  constexpr double kRounding = 4e-15; // a few sums
  return high - low <= kRounding * end;
}

} // namespace stepsim::collectives
