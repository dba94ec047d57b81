#pragma once
// The planner that never waits: whenever the channel is free, all gradients that are ready are sent
// as one message (MER 5.5). It needs no cost in advance, so a runtime could do the same.
#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct ScheduleOptions;

// Plans the groups, which depend on when the channel is free, for any cost. O(items).
[[nodiscard]] Plan plan_eager(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::buckets
