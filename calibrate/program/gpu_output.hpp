#pragma once
// The end of both `cuda` and `fit` of a file that gpu_bench wrote: fits, prints, writes.
#include "calibrate/cuda/gpu_fit.hpp"
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// The exit code: 4 and no file where nothing can be fitted.
[[nodiscard]] int write_gpu_calibration(const gpu::GpuSamples& samples, const FitOptions& options,
                                        bool force, const cli::Common& common);

} // namespace stepsim::calibrate
