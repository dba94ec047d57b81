#pragma once
// The published greedy of MG-WFBP (MER 5.4): the next gradient joins the open group iff the wait
// for it, counted from the start of the group, is shorter than the start-up that the merge saves.
#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct ScheduleOptions;

// Plans the groups for any cost; `waiting_merges` counts the merges that made a ready gradient
// wait. Optimal for a linear cost if there are none (bounds.hpp). O(items).
[[nodiscard]] Plan plan_mg_wfbp(const Problem& problem, const ScheduleOptions& options);
// Does the same as plan_mg_wfbp(), except that a gradient also joins while the group has fewer than
// 8192 elements, as in the authors' code. An item without a number of elements counts as values of
// 4 bytes.
[[nodiscard]] Plan plan_mg_wfbp_small_tensors(const Problem& problem,
                                              const ScheduleOptions& options);

} // namespace stepsim::buckets
