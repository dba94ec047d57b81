#pragma once
// mpirun -np P stepsim-calibrate replay SCENARIO --calibration CAL: a training step executed for
// real beside the prediction of the simulator (CAL 9). Part of the program where MPI was found when
// it was built.
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// All ranks call it; rank 0 writes. Returns kOk. Throws UsageError for flags and for fewer
// than 2 processes. Any later error (of the scenario, of the calibration, what a replay cannot
// execute, a wrong sum) is printed and ends all processes with its exit code.
[[nodiscard]] int replay(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
