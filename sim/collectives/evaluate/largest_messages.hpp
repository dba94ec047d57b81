#pragma once
// The time of schedules in which every rank sends and receives in every step, over equal links, in
// parts that differ by one element at most. No step can end later than after largest messages in
// all steps so far:
//     end(step) = end(step - 1) + alpha + most_bytes(parts sent in the step) (beta + gamma) + delay
// Where every message on a path, along which each rank sends on after it has received, is as large
// as that, the path ends at just this time. Recursive halving of 5 elements in 4 parts:
//     parts 2 1 1 1     rank 3 sends parts 0, 1 to rank 1, which sends part 0 to rank 0: 3 + 2
// One path is followed instead of all ranks.
#include <optional>

#include "collectives/collective.hpp"

namespace stepsim::collectives {

// Returns max_plus(collective).seconds, to the bit. Empty if ranks or links differ, if a phase is
// of another kind, and if the messages on neither of the two paths that are tried are all largest
// ones; where the ranks are a power of two there is always one. O(steps) time.
[[nodiscard]] std::optional<double> seconds_of_largest_messages(const Collective& collective);

} // namespace stepsim::collectives
