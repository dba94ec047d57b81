#pragma once
// The best merge for one channel, by dynamic programming over the last group (MER 5.7):
//     F_i = min over j of max(F_j, r_i) + T(S_i - S_j)
#include "plan/problem.hpp"

namespace stepsim::plan {

struct ScheduleOptions;

// No grouping into contiguous runs finishes earlier, whatever the cost. Ties go to the fewest
// groups. O(items^2) costs; with a linear cost a few nanoseconds each.
[[nodiscard]] Plan plan_optimal(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::plan
