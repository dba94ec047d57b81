#pragma once
// mpirun -np P stepsim-calibrate mpi -o CAL [--table ERRORS.jsonl]: calibrates from messages
// between two processes alone, then predicts and measures every collective (CAL 8). Part of the
// program where MPI was found when it was built.
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// All ranks call it; rank 0 writes. Returns kOk. Throws UsageError for flags,
// SimulationError if a collective gives a wrong result or times do not grow with size.
[[nodiscard]] int run_mpi(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
