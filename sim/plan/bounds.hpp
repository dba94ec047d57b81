#pragma once
// What no plan of a problem can beat, and when a plan is known to be the best one.
#include "plan/problem.hpp"

namespace stepsim::plan {

struct ScheduleOptions;

// Lower bound of `finish` over all contiguous groupings: max(r_n + T(p_n), max(F_0, r_1) + T(S_n)),
// where T is the cost (cost.hpp), r_1 and r_n are the ready times of the first and last item with
// bytes, p_n the bytes of that last item, S_n all bytes, and F_0 when the channel is free. Of a
// CurveCost, which may decrease with the bytes, T(p_n) is the least T(S_n - S_j) over j < n. The
// second term counts only where the cost is known to be sub-additive, and no bound lies before the
// last ready time. Source: MER 3 (derived).
[[nodiscard]] Seconds finish_lower_bound(const Problem& problem);

// Lower bound of `finish` over all contiguous groupings, linear cost, with `concurrency` messages
// at once: k messages move data at k / (1 + contention (k - 1)) times the rate of one, k <=
// concurrency. Source: MER 3 (derived).
[[nodiscard]] Seconds finish_lower_bound_at_once(const Problem& problem,
                                                 const ScheduleOptions& options);
// min over k <= concurrency of (1 + contention (k - 1)) / k.
[[nodiscard]] double least_slowdown(const ScheduleOptions& options);

// No waiting merge and a linear cost: the published greedy is then optimal. Source: MER 8, fact 4.
[[nodiscard]] bool certified_optimal(const Problem& problem, const Plan& mg_wfbp_plan);

} // namespace stepsim::plan
