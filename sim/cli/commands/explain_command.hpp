#pragma once
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// stepsim explain SCENARIO|PROGRAM: what bounds a training step, in words and tables. Returns kOk.
// Throws UsageError for flags and for --measured with a program, InputError for the file and for a
// scenario without a program, SimulationError if a run fails or they all take too long.
int explain(const Invocation& invocation);

} // namespace stepsim::cli
