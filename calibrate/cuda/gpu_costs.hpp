#pragma once
// From fitted kernels to the costs of compressing that a scenario takes (SPA 8.2, 9).
#include "calibrate/cuda/gpu_fit.hpp"
#include "json/json.hpp"

namespace stepsim::calibrate::gpu {

// The costs under the names of `compression.costs`: `any` for what all methods do (residual, merge,
// scatter), and per method its selection or encoding, and its decoding if it has a kernel of its
// own. The costs of powersgd are those measured at rank 4, the costs of the bucket codec
// (kBucketCodec) those measured at 8 bits. A cost is left out if one of its kernels was not
// measured or has the grade fail.
[[nodiscard]] io::Json compression_costs(const GpuFit& fit);

} // namespace stepsim::calibrate::gpu
