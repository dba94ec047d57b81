#pragma once
// stepsim-calibrate fit SAMPLES... -o CAL: fits network parameters and curves to measured times
// (CAL 4.2, 4.3, 4.5).
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// Prints the tables of residuals and writes the calibration to -o, whatever its grade. A single
// file written by gpu_bench gives a GPU calibration instead (gpu_output.hpp). Returns kTargetNotMet
// if a curve misses --max-median or --max-p90, else kOk. Throws InputError for the samples, and
// UsageError for flags and for an algorithm of --assume that is used for no measured operation,
// because the samples name the algorithm or the operation does not have it.
[[nodiscard]] int fit(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
