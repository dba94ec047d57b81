#pragma once
// The buckets that a trace was measured with. Derived.
#include "plan/problem.hpp"

namespace stepsim::plan {

struct ScheduleOptions;

// Needs a measured bucket of every item (asserted). Like those of ddp the buckets are launched in
// list order: none is sent before an earlier one is ready. O(items log items).
[[nodiscard]] Plan plan_trace(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::plan
