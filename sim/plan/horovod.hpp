#pragma once
// Tensor fusion of Horovod (MER 5.3): a background thread wakes up every cycle_s and sends what has
// become ready since, in messages of at most fusion_bytes and one element type.
#include <string>

#include "plan/problem.hpp"

namespace stepsim::plan {

struct ScheduleOptions;

// `ready` of a group is the tick that sends it; with `blocking` no cycle begins before the last
// message of the one before has ended. O(items + ticks).
[[nodiscard]] Plan plan_horovod(const Problem& problem, const ScheduleOptions& options);

// "fusion buffer of 128 MiB, cycles of 1 ms".
[[nodiscard]] std::string horovod_settings(const ScheduleOptions& options);

} // namespace stepsim::plan
