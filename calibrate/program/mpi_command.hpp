#pragma once
// mpirun -np P stepsim-calibrate mpi -o CAL [--table ERRORS.jsonl]: makes a calibration from the
// times of messages between two processes alone and between all processes at once (exchange,
// shift), then predicts and measures every collective (CAL 8). The program has this command only if
// MPI was found when it was built.
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// All ranks must call this; rank 0 writes the output. Returns kTargetNotMet if passes differ by
// more than 15 % with --strict, and, on rank 0 only, if the grade is fail without --force; else
// kOk. An error of one rank after the start ends all processes with kSimulationError, because other
// ranks may wait for that rank. Throws UsageError for flags and for fewer than 2 processes.
[[nodiscard]] int run_mpi(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
