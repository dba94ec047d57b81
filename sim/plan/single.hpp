#pragma once
// One message of everything, after backward (SyncEASGD; MER 5.1). Pays one start-up and overlaps
// nothing.
#include "plan/problem.hpp"

namespace stepsim::plan {

struct ScheduleOptions;

// One group of all items. O(items).
[[nodiscard]] Plan plan_single(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::plan
