#pragma once
// Schedules `trace`, one message per bucket that the trace was measured with, and `groups`, one per
// list of layers that the scenario gives.
#include <string>

#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct ScheduleOptions;

// Every item must have a bucket, measured or given (asserted). As with ddp, buckets are launched in
// the order of their numbers: no bucket is sent before all earlier buckets are ready. O(items log
// items).
[[nodiscard]] Plan plan_trace(const Problem& problem, const ScheduleOptions& options);

// Returns "mine: 3 groups of layers".
[[nodiscard]] std::string groups_settings(const ScheduleOptions& options);

} // namespace stepsim::buckets
