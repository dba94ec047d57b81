#pragma once
// One message with all gradients, after backward (SyncEASGD; MER 5.1). It has one start-up and no
// overlap.
#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct ScheduleOptions;

// Returns one group of all items. O(items).
[[nodiscard]] Plan plan_single(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::buckets
