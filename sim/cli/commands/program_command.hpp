#pragma once
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// stepsim program SCENARIO: the program that a scenario becomes, as a file and as a graph. Returns
// kOk. Throws UsageError for flags, InputError for the file and for a scenario without a program.
int program(const Invocation& invocation);

} // namespace stepsim::cli
