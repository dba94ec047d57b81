#pragma once
// The planner that never waits: whenever the channel is free, everything that is ready goes as one
// message (MER 5.5). Needs no knowledge of the cost beforehand, as a runtime could do it.
#include "plan/problem.hpp"

namespace stepsim::plan {

struct ScheduleOptions;

// Groups that depend on when the channel is free: any cost. O(items).
[[nodiscard]] Plan plan_eager(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::plan
