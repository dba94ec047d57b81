#pragma once
// mpirun -np P stepsim-calibrate mpi -o CAL [--table ERRORS.jsonl]: calibrates from single messages
// between pairs of processes, one pair at a time or all at once (exchange, shift), then predicts
// and measures every collective (CAL 8). The program has this command only if MPI was found when it
// was built.
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// All ranks call it; rank 0 writes the output. Returns kTargetNotMet with --strict if passes differ
// by more than 15 %, and, on rank 0 without --force, if the grade is fail; else kOk. An error of
// one rank after the start ends all processes with kSimulationError, because other ranks may wait
// for it. Throws UsageError for flags and for fewer than 2 processes.
[[nodiscard]] int run_mpi(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
