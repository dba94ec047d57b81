#pragma once
// stepsim sweep SWEEP: runs every point of a grid of scenario values on all cores, optionally as
// one of several shards, and can resume after an interruption (IO 14).
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk, or kInterrupted after Ctrl-C, when finished points are in the file. Throws
// UsageError and InputError before the first point runs, and SimulationError at the end if points
// failed, which have records, too.
[[nodiscard]] int sweep(const Invocation& invocation);

} // namespace stepsim::cli
