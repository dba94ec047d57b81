#pragma once
// stepsim-calibrate fit-library LOG|FOLDER|CSV... --preset NAME -o CAL (CLU 8).
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// Reads measured times of several shapes, fits the library model, prints parameters and errors, and
// writes a file of kind library_calibration. Returns kTargetNotMet, the file written all the same,
// where the errors on what was left out (shapes, else every second size) exceed --max-median or
// --max-p90, or where one of these is given and nothing could be left out; else kOk. Throws
// InputError for the measurements (also for fewer than 6 points, or a shape that the node type
// cannot have) and for the file of the node type, UsageError for flags.
int fit_library_model(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
