#pragma once
// The buckets of PyTorch's DistributedDataParallel (MER 5.2): gradients fill a bucket until it has
// bucket_bytes, per element type; buckets are launched in order, none before an earlier one is
// ready.
#include <string>

#include "plan/problem.hpp"

namespace stepsim::plan {

struct ScheduleOptions;

// Groups need not be contiguous with several element types. O(items log items).
[[nodiscard]] Plan plan_ddp(const Problem& problem, const ScheduleOptions& options);

// The limit of the first bucket: smaller than the others in PyTorch's defaults, so that the first
// message leaves early.
[[nodiscard]] Bytes first_bucket_bytes(const ScheduleOptions& options);

// "buckets of 25 MiB, the first of 1 MiB".
[[nodiscard]] std::string ddp_settings(const ScheduleOptions& options);

} // namespace stepsim::plan
