#pragma once
// stepsim-calibrate fit SAMPLES... -o CAL: network parameters and curves from measured times
// (CAL 4.2, 4.3, 4.5).
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// Writes the calibration to -o and the residual table next to it. Returns kOk, or kTargetNotMet for
// grade `fail` without --force. Throws InputError for the samples, UsageError for flags.
[[nodiscard]] int fit(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
