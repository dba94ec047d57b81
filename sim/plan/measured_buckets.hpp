#pragma once
// The buckets that a trace was measured with.
#include "plan/problem.hpp"

namespace stepsim::plan {

struct ScheduleOptions;

// Needs a measured bucket of every item (asserted). As with ddp the buckets are launched in the
// order of their numbers: none is sent before an earlier one is ready. O(items log items).
[[nodiscard]] Plan plan_trace(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::plan
