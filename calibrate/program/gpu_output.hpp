#pragma once
// Fits GPU samples, prints the tables and writes the calibration: the last part of both `cuda` and
// `fit` on a file of gpu_bench.
#include "calibrate/cuda/gpu_fit.hpp"
#include "calibrate/program/targets.hpp"
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// Prints tables and warnings and writes the calibration to the output of `common`. Returns kOk, or
// kTargetNotMet if a target is missed, if the grade is `fail` without `force`, or if there is
// neither a curve nor a kernel; in the last case no file is written.
[[nodiscard]] int write_gpu_calibration(const gpu::GpuSamples& samples, const FitOptions& options,
                                        const CurveTargets& targets, bool force,
                                        const cli::Common& common);

} // namespace stepsim::calibrate
