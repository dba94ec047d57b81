#pragma once
// Schedule `trace`: one message per bucket that the trace was measured with.
#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct ScheduleOptions;

// Every item must have a measured bucket (asserted). As with ddp, buckets are launched in the order
// of their numbers: no bucket is sent before all earlier buckets are ready. O(items log items).
[[nodiscard]] Plan plan_trace(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::buckets
