#pragma once
// The values of a bucket size at which the buckets change (MER 5.2, 5.3, 6.3). Every value between
// two neighbours in the list makes the same plan, so that trying the values of the list finds the
// best value exactly.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "buckets/planners.hpp"
#include "buckets/problem.hpp"

namespace stepsim::study {

// Values of fusion_bytes for `horovod`, of bucket_bytes for `ddp` and `dear`: ascending, with at
// least one value for every plan that any value makes. `schedule` must be one of these, with
// gradients of one element type for `horovod` and without dear_layers for `dear` (not checked).
// These schedules close a bucket by comparing a sum of neighbouring gradients with the value, so
// that the plan stays the same until the value passes the next sum that was compared. Ends once it
// has more than `most` values.
[[nodiscard]] std::vector<std::int64_t>
plan_changes(const buckets::Problem& problem, buckets::Schedule schedule,
             const buckets::ScheduleOptions& options,
             std::size_t most = std::numeric_limits<std::size_t>::max());

} // namespace stepsim::study
