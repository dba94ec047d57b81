#pragma once
// Tensor fusion of Horovod (MER 5.3): a background thread wakes up every cycle_s and sends all
// gradients that have become ready, in messages of one element type and at most fusion_bytes; a
// larger gradient is sent alone.
#include <string>

#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct ScheduleOptions;

// Plans the groups; `ready` of a group is the tick that sends it. With `blocking`, no cycle begins
// before the last message of the previous cycle has ended. O(items + ticks).
[[nodiscard]] Plan plan_horovod(const Problem& problem, const ScheduleOptions& options);

// Returns "fusion buffer of 128 MiB, cycles of 1 ms".
[[nodiscard]] std::string horovod_settings(const ScheduleOptions& options);

} // namespace stepsim::buckets
