#pragma once
// stepsim-calibrate fit-library LOG|FOLDER|CSV... --preset NAME -o CAL: fits the library model to
// measured times of several shapes (CLU 8).
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// Prints parameters and errors and writes a file of kind library_calibration. Returns
// kTargetNotMet, after the file is written, if --max-median or --max-p90 is exceeded by the errors
// on shapes that were left out of the fit (with one shape: on every second size), or if one of the
// two is given and nothing could be left out; else kOk. Throws UsageError for flags, and InputError
// for the file of the node type and for the measurements, also for fewer than 6 points or a shape
// that the node type cannot have.
int fit_library_model(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
