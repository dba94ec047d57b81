#pragma once
// The best merge for one channel, by dynamic programming over the last group (MER 5.7):
//     F_i = min over j < i of max(F_j, r_i) + T(S_i - S_j)
// F_i is the earliest finish of the first i items, r_i the ready time of item i, S_i the bytes of
// the first i items; F_0 is when the channel is free.
#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct ScheduleOptions;

// Relative: what two sums of the same times may differ by. Ties go to the smallest j (MER 5.7).
inline constexpr double kOptimalTie = 1e-12;

// Returns a plan with the earliest finish over all groupings into contiguous runs, for any cost;
// another plan with the same finish may have fewer groups. O(items) for a linear cost, else
// O(items^2) calls of the cost.
[[nodiscard]] Plan plan_optimal(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::buckets
