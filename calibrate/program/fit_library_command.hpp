#pragma once
// stepsim-calibrate fit-library LOG|FOLDER|CSV... --preset NAME -o CAL (CLU 8).
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// Reads measured times of several shapes, fits the library model, prints parameters and errors, and
// writes a file of kind library_calibration. Exit 4, the file written all the same, where the
// errors on what was left out (shapes, else every second size) exceed --max-median or --max-p90.
int fit_library_model(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
