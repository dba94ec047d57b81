#pragma once
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// The program that a scenario becomes, as a file and as a graph.
int program(const Invocation& invocation);

} // namespace stepsim::cli
