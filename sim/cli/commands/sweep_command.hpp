#pragma once
// stepsim sweep SWEEP: runs every point of a grid of scenario values on all cores, optionally as
// one of several shards, and can resume after an interruption (IO 14).
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk, or kInterrupted after Ctrl-C; the file then has the finished points. Throws
// UsageError and InputError before the first point runs, and SimulationError at the end if a point
// failed. The file has a record for every failed point as well.
[[nodiscard]] int sweep(const Invocation& invocation);

} // namespace stepsim::cli
