#pragma once
// Lower bounds of all plans of a problem, and a test for plans that are known to be optimal.
#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct ScheduleOptions;

// Returns a lower bound of `finish` over all contiguous groupings, at least the last ready time:
//     max(r_n + T(p_n), max(F_0, r_1) + T(S_n))
// T is the cost (cost.hpp), r_1 and r_n the ready times of the first and the last item with bytes,
// p_n the bytes of that last item, S_n all bytes, and F_0 the time at which the channel is free.
// For a CurveCost, which may decrease with the bytes, T(p_n) is the least T(S_n - S_j) over j < n.
// The second term is used only if the cost is known to be sub-additive. Source: MER 3 (derived).
[[nodiscard]] Seconds finish_lower_bound(const Problem& problem);

// Returns a lower bound of `finish` over all contiguous groupings for a linear cost and up to
// `concurrency` messages at once, of which k move data at k / (1 + contention (k - 1)) times the
// rate of one. Source: MER 3 (derived).
[[nodiscard]] Seconds finish_lower_bound_at_once(const Problem& problem,
                                                 const ScheduleOptions& options);
// Returns min over k <= concurrency of (1 + contention (k - 1)) / k.
[[nodiscard]] double least_slowdown(const ScheduleOptions& options);

// Whether the cost is linear and the plan of the published greedy has no waiting merge, which makes
// it optimal. Source: MER 8, fact 4.
[[nodiscard]] bool certified_optimal(const Problem& problem, const Plan& mg_wfbp_plan);

} // namespace stepsim::buckets
