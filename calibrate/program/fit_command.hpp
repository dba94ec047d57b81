#pragma once
// stepsim-calibrate fit SAMPLES... -o CAL: network parameters and curves from measured times
// (CAL 4.2, 4.3, 4.5).
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// Prints the tables of residuals and writes the calibration to -o, whatever its grade. Returns
// kTargetNotMet where a curve misses --max-median or --max-p90, else kOk. One file of gpu_bench
// gives a GPU calibration instead, by the rules of gpu_output.hpp. Throws InputError for the
// samples, UsageError for flags.
[[nodiscard]] int fit(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
