#pragma once
// From fitted kernels to the costs of compressing that a scenario takes (SPA 8.2, 9).
#include "calibrate/cuda/gpu_fit.hpp"
#include "json/json.hpp"

namespace stepsim::calibrate::gpu {

// The costs under the names of `compression.costs`: `any` for what all methods do (residual, merge,
// scatter), and per method its selection or encoding, and its decoding if it has a kernel of its
// own. powersgd has the costs of rank 4, the codec of buckets (kBucketCodec) those of 8 bits. A
// cost whose kernels were not all measured, or of which one has the grade fail, is left out.
[[nodiscard]] io::Json compression_costs(const GpuFit& fit);

} // namespace stepsim::calibrate::gpu
