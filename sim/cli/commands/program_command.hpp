#pragma once
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// stepsim program SCENARIO: writes the operations of a scenario as a program file and as a graph.
// Returns kOk. Throws UsageError for flags, and InputError for the file and for a scenario that
// cannot become a program (why_no_program).
int program(const Invocation& invocation);

} // namespace stepsim::cli
