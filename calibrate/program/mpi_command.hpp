#pragma once
// mpirun -np P stepsim-calibrate mpi -o CAL [--table ERRORS.jsonl]: calibrates from messages
// between two processes alone, then predicts and measures every collective (CAL 8). Part of the
// program where MPI was found when it was built.
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// All ranks call it; rank 0 writes. Returns kOk, or kTargetNotMet with --strict where passes
// differ. An error of one rank ends all processes, since the others may wait for it. Throws
// UsageError for flags.
[[nodiscard]] int run_mpi(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
