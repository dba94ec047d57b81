#pragma once
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// stepsim explain SCENARIO|PROGRAM: shows what limits the time of a training step, as sentences and
// tables. Returns kOk. Throws UsageError for flags and for --measured with a program, InputError
// for the file and for a scenario without a program, and SimulationError if a run fails or all runs
// together take too long.
int explain(const Invocation& invocation);

} // namespace stepsim::cli
