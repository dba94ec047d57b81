#pragma once
// stepsim-calibrate cuda -o CAL: measures collectives and kernels on the local GPUs (CAL 7). The
// program has this command only if a CUDA compiler was found when it was built.
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// Returns kOk, kSkipped without a GPU, driver or library, or kTargetNotMet if nothing can be
// fitted. Throws UsageError for flags, and SimulationError if a collective or kernel gives a wrong
// result (all are checked before they are timed) or, with --strict, if passes differ by more than 5
// %. Progress goes to standard error, tables and calibration to the outputs of the common options.
[[nodiscard]] int cuda(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
