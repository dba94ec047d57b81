#pragma once
// What no algorithm can beat: an operation on these links takes at least the largest of three
// times, each of which is counted without the others. Ranks that are all alike, or have links of
// their own, by COL 6; nodes of several ranks with network cards by CLU 4, for which latency counts
// between nodes only; hosts of a fabric by fabric_bound.hpp. A parameter server and sums in
// switches move other bytes than ranks among themselves and have bounds of their own.
#include <cstdint>

#include "coll/collective.hpp"
#include "library/library_words.hpp"

namespace stepsim::coll {

struct LowerBound {
  // Messages that must follow one another: ceil(log2 P) of them without delays, one for an
  // alltoall.
  double latency_s{};
  double bandwidth_s{}; // bytes that must leave or reach the busiest rank, or all ranks together
  double reduction_s{}; // additions, spread over all ranks
  // What these bytes pass: network cards, or the ports of ranks inside a node.
  library::BoundKind bandwidth_kind = library::BoundKind::nic;
  [[nodiscard]] double seconds() const;
  [[nodiscard]] library::BoundKind kind() const; // the term that is the largest
};
// The operation in the words of the library, which has no allgatherv: that is an allgather.
[[nodiscard]] library::Operation operation_of(Op op);
// All 0 for one rank or nothing to send. Entry times do not count: the bound is one of duration.
[[nodiscard]] LowerBound lower_bound(const Collective& collective);

// Least time in which what one rank knows can reach `ranks` ranks, or the other way round, with
// messages that hold their ports for `latency_s` and are there `startup_s` >= latency_s after their
// start: ceil(log2 ranks) latencies if both are equal.
[[nodiscard]] double spread_seconds(std::uint32_t ranks, double latency_s, double startup_s);

} // namespace stepsim::coll
