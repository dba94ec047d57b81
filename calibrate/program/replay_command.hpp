#pragma once
// mpirun -np P stepsim-calibrate replay SCENARIO --calibration CAL: a training step executed for
// real beside the prediction of the simulator (CAL 9). Part of the program where MPI was found when
// it was built.
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// All ranks call it; rank 0 writes. Returns kOk. Throws InputError for the scenario and the
// calibration, UsageError for what a replay cannot execute, SimulationError if an exchanged sum is
// wrong.
[[nodiscard]] int replay(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
