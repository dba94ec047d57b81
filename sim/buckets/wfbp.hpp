#pragma once
// Wait-free backpropagation: one message per gradient, sent as soon as it is ready (Poseidon, and
// the baseline of the MG-WFBP authors with a threshold of 0; MER 5.1). Every gradient has a
// start-up.
#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct ScheduleOptions;

// Returns one group per item. O(items).
[[nodiscard]] Plan plan_wfbp(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::buckets
