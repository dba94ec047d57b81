#pragma once
// The end of both `cuda` and `fit` of a file that gpu_bench wrote: fits, prints, writes.
#include "calibrate/cuda/gpu_fit.hpp"
#include "calibrate/program/targets.hpp"
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// Fits, prints tables and warnings, and writes the calibration to the output of `common`. Returns
// kOk, or kTargetNotMet where a target is missed, and where there is neither a curve nor a kernel;
// only then no file is written.
[[nodiscard]] int write_gpu_calibration(const gpu::GpuSamples& samples, const FitOptions& options,
                                        const CurveTargets& targets, const cli::Common& common);

} // namespace stepsim::calibrate
