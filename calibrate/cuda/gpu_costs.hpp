#pragma once
// Turns fitted kernels into the compression costs of a scenario (SPA 8.2, 9).
#include "calibrate/cuda/gpu_fit.hpp"
#include "document/json.hpp"

namespace stepsim::calibrate::gpu {

// The JSON of `compression.costs`: under `any` the costs that all methods share (residual, merge,
// scatter), and per method the selection (timed on Gaussian values) or encoding, and the decoding
// if it has its own kernel. The costs of powersgd were measured at rank 4, the costs of the bucket
// codec (kBucketCodec) at 8 bits. A cost is left out if one of its kernels was not measured or has
// the grade fail.
[[nodiscard]] io::Json compression_costs(const GpuFit& fit);

} // namespace stepsim::calibrate::gpu
