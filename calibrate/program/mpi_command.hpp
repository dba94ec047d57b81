#pragma once
// mpirun -np P stepsim-calibrate mpi -o CAL [--table ERRORS.jsonl]: calibrates from single messages
// between pairs of processes, one pair at a time or all at once (exchange, shift), then predicts
// and measures every collective (CAL 8). Part of the program where MPI was found when it was built.
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// All ranks call it; rank 0 writes. Returns kOk, or kTargetNotMet: with --strict where passes
// differ by more than 15 %, and on rank 0 where the grade is fail, without --force. An error of one
// rank after the start ends all processes with kSimulationError, since the others may wait for it.
// Throws UsageError for flags and for fewer than 2 processes.
[[nodiscard]] int run_mpi(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
