#pragma once
// What no algorithm can beat (COL 6): an operation on these links takes at least the largest of
// three times, each of which is counted without the others.
#include <cstdint>

#include "coll/collective.hpp"

namespace stepsim::coll {

struct LowerBound {
  double latency_s{};   // messages that must follow one another: ceil(log2 P) without delays
  double bandwidth_s{}; // bytes that must leave or reach the busiest rank, or all ranks together
  double reduction_s{}; // additions, spread over all ranks
  [[nodiscard]] double seconds() const;
};
// All 0 for one rank or nothing to send. Entry times do not count: the bound is one of duration.
[[nodiscard]] LowerBound lower_bound(const Collective& collective);

// Least time in which what one rank knows can reach `ranks` ranks, or the other way round, with
// messages that hold their ports for `latency_s` and are there `startup_s` >= latency_s after their
// start: ceil(log2 ranks) latencies if both are equal.
[[nodiscard]] double spread_seconds(std::uint32_t ranks, double latency_s, double startup_s);

} // namespace stepsim::coll
