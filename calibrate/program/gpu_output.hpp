#pragma once
// The end of both `cuda` and `fit` of a file that gpu_bench wrote: fits, prints, writes.
#include "calibrate/cuda/gpu_fit.hpp"
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// Fits, prints tables and warnings, and writes the calibration to the output of `common`. With
// `force` curves of grade fail are kept. Returns kOk, or kTargetNotMet where no curve is kept and
// no kernel is fitted; then no file is written.
[[nodiscard]] int write_gpu_calibration(const gpu::GpuSamples& samples, const FitOptions& options,
                                        bool force, const cli::Common& common);

} // namespace stepsim::calibrate
