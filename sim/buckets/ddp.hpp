#pragma once
// The buckets of PyTorch's DistributedDataParallel (MER 5.2). Gradients fill a bucket until it has
// bucket_bytes, separately per element type. Buckets are launched in order; none is launched before
// an earlier bucket is ready.
#include <string>

#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct ScheduleOptions;

// Plans the buckets. Groups need not be contiguous if there are several element types. O(items log
// items).
[[nodiscard]] Plan plan_ddp(const Problem& problem, const ScheduleOptions& options);

// Returns the limit of the first bucket of every element type: the option, else 1 MiB for the
// default bucket_bytes, as in PyTorch, so that the first message is sent early, else bucket_bytes.
[[nodiscard]] Bytes first_bucket_bytes(const ScheduleOptions& options);

// Returns "buckets of 25 MiB, the first of 1 MiB".
[[nodiscard]] std::string ddp_settings(const ScheduleOptions& options);

// Schedule `caps`: the same with a list of limits, PyTorch's bucket_cap_mb_list. The buckets of an
// element type take the limits in turn, and the last limit repeats.
[[nodiscard]] Plan plan_caps(const Problem& problem, const ScheduleOptions& options);

// Returns "mine: buckets of 1, 25 MiB".
[[nodiscard]] std::string caps_settings(const ScheduleOptions& options);

} // namespace stepsim::buckets
