#pragma once
// stepsim-calibrate cuda -o CAL: collectives and kernels measured on the local GPUs (CAL 7). Part
// of the program where a CUDA compiler was found when it was built.
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// Returns kOk, kSkipped without a GPU, driver or library, or kTargetNotMet where nothing can be
// fitted. Throws SimulationError if a collective or kernel gives a wrong result (it is checked
// before it is timed), and with --strict where passes differ by more than 5 %. Progress goes to
// standard error, the tables and the calibration to where the common options say. Throws UsageError
// for flags.
[[nodiscard]] int cuda(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
