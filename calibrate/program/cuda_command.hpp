#pragma once
// stepsim-calibrate cuda -o CAL: collectives and kernels measured on the local GPUs (CAL 7). Part
// of the program where a CUDA compiler was found when it was built.
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// Returns kOk, kSkipped without a GPU, driver or library, or kTargetNotMet where nothing can be
// fitted. Throws SimulationError if a collective or kernel gives a wrong result: it is checked
// before it is timed.
[[nodiscard]] int cuda(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
