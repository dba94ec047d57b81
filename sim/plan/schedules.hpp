#pragma once
// The planners themselves, one .cpp each, and the two helpers they share. A planner sees only items
// with bytes (at least one) and decides the groups and, for each, the time before which it must not
// start (`ready`); all other times follow in `replay_groups`.
#include <cstddef>

#include "plan/planners.hpp"

namespace stepsim::plan {

// Appends the group of items first..last (from 0, both included), ready when its last item is.
void add_run(Plan& plan, const Problem& problem, std::size_t first, std::size_t last);

// From items and `ready` of each group: bytes, start, end (MER 3), and the finish.
void replay_groups(const Problem& problem, Plan& plan);

Plan plan_wfbp(const Problem& problem, const ScheduleOptions& options);
Plan plan_single(const Problem& problem, const ScheduleOptions& options);
Plan plan_ddp(const Problem& problem, const ScheduleOptions& options);
Plan plan_horovod(const Problem& problem, const ScheduleOptions& options);
Plan plan_mg_wfbp(const Problem& problem, const ScheduleOptions& options);
Plan plan_mg_wfbp_small_tensors(const Problem& problem, const ScheduleOptions& options);
Plan plan_optimal(const Problem& problem, const ScheduleOptions& options);
Plan plan_eager(const Problem& problem, const ScheduleOptions& options);
Plan plan_exhaustive(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::plan
