#pragma once
// The published greedy of MG-WFBP (MER 5.4): the next gradient joins the open group iff waiting for
// it, counted from the start the group would have, costs less than the start-up it saves.
#include "plan/problem.hpp"

namespace stepsim::plan {

struct ScheduleOptions;

// Any cost; `waiting_merges` of the plan counts the merges that made a ready gradient wait. Optimal
// for a linear cost where there is none (bounds.hpp). O(items).
[[nodiscard]] Plan plan_mg_wfbp(const Problem& problem, const ScheduleOptions& options);
// The same, but a gradient also joins while the group has fewer than 8192 elements, as in the
// authors' code.
[[nodiscard]] Plan plan_mg_wfbp_small_tensors(const Problem& problem,
                                              const ScheduleOptions& options);

} // namespace stepsim::plan
