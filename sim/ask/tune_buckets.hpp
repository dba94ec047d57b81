#pragma once
// For which values of a bucket size the buckets differ (MER 5.2, 5.3, 6.3): between two of them
// every value makes the same plan, so that trying one of each finds the best value exactly.
#include <cstdint>
#include <vector>

#include "plan/planners.hpp"
#include "plan/problem.hpp"

namespace stepsim::study {

// Values of bucket_bytes or of Horovod's fusion_bytes, one for every plan that any value
// makes. A rule compares sums of neighbouring gradients with the value; from one value on, the plan
// stays until the value passes the next of the sums that the rule compared.
[[nodiscard]] std::vector<std::int64_t> plan_changes(const plan::Problem& problem,
                                                     plan::Schedule schedule,
                                                     const plan::ScheduleOptions& options);

} // namespace stepsim::study
