#pragma once
// mpirun -np P stepsim-calibrate replay SCENARIO --calibration CAL: executes training steps with
// real MPI messages and compares their times with the prediction of the simulator (CAL 9). The
// command exists only in builds that found MPI.
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// Every MPI process must call this function; rank 0 writes the output. Returns kOk. Throws
// UsageError for wrong flags and for fewer than 2 processes. Any later error (a wrong scenario or
// calibration, a step that cannot be replayed, a wrong sum) is printed and ends all processes with
// the exit code of the error.
[[nodiscard]] int replay(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
