#pragma once
// A ring on a fabric whose connections share no link. No flow waits for another one, so each
// transfer takes the latency of its path and its bytes at the rate of the narrowest link. The
// max_plus sweep over these costs then gives the times of events(): equal to 1e-12, except for flow
// ends that the flow level merges (within 1e-9 of a flow's size, flow_level.hpp).

#include "collectives/evaluate/evaluation.hpp"
#include "collectives/schedule/schedule.hpp"

namespace stepsim::collectives {

// Returns the result of events() for a collective on a fabric, with its numbers of messages and
// events. Empty if the shortcut does not apply: another algorithm, connections that share a link,
// delays, headers, reduction costs per rank, fewer elements than ranks. Takes at most O(ranks^2)
// time, one vector step for each of the 2 (P - 1) steps.
[[nodiscard]] std::optional<Evaluation> disjoint_ring(const Collective& collective);

// Whether disjoint_ring() has a result for the collective, whose schedule is given. O(ranks) paths.
[[nodiscard]] bool has_disjoint_ring(const Collective& collective, const Schedule& schedule);

// A ring of equal ranks on equal links, whose parts have the same size: all ranks do the same at
// the same times. One path of messages (few_ranks.hpp) gives what events() gives, within
// 1e-12, with its numbers of messages and events. Empty if has_equal_ring()
// (collectives/method.hpp) is false, and where one phase has another ring. Takes O(ranks) time.
[[nodiscard]] std::optional<Evaluation> equal_ring(const Collective& collective);

// The time of schedules in which every rank sends and receives in every step, over equal links, in
// parts that differ by one element at most. No step can end later than after largest messages in
// all steps so far:
//     end(step) = end(step - 1) + alpha + most_bytes(parts sent in the step) (beta + gamma) + delay
// Where every message on a path, along which each rank sends on after it has received, is as large
// as that, the path ends at just this time. Recursive halving of 5 elements in 4 parts:
//     parts 2 1 1 1     rank 3 sends parts 0, 1 to rank 1, which sends part 0 to rank 0: 3 + 2
// One path is followed instead of all ranks.

// Returns max_plus(collective).seconds, to the bit. Empty if ranks or links differ, if a phase is
// of another kind, and if the messages on neither of the two paths that are tried are all largest
// ones; where the ranks are a power of two there is always one. O(steps) time.
[[nodiscard]] std::optional<double> seconds_of_largest_messages(const Collective& collective);

} // namespace stepsim::collectives
