#pragma once
// stepsim-calibrate fit SAMPLES... -o CAL: network parameters and curves from measured times
// (CAL 4.2, 4.3, 4.5).
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// Prints the tables of residuals and writes the calibration to -o, whatever its grade. Returns
// kTargetNotMet where a curve misses --max-median or --max-p90, else kOk. A single file that is one
// of gpu_bench gives a GPU calibration instead, by the rules of gpu_output.hpp. Throws InputError
// for the samples, UsageError for flags, and where no measured operation can have --assume.
[[nodiscard]] int fit(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
