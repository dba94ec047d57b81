#pragma once
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// stepsim explain SCENARIO|PROGRAM: shows what limits the time of a training step, as sentences and
// tables. Returns kOk. Throws UsageError for flags and for --measured with a program, InputError
// for the file and for a scenario that cannot become a program (why_no_program), and
// SimulationError if a run fails or if all runs together are estimated to take longer than
// --max-seconds.
int explain(const Invocation& invocation);

} // namespace stepsim::cli
