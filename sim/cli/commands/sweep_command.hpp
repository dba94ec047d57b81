#pragma once
// stepsim sweep SWEEP: every point of a grid of scenario values, on all cores, in shards if asked
// for, resumable after an interruption (IO 14).
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk, or kInterrupted after Ctrl-C (finished points are in the file). Throws UsageError
// and InputError before the first point is run, SimulationError at the end if points failed; failed
// points are records too.
[[nodiscard]] int sweep(const Invocation& invocation);

} // namespace stepsim::cli
