#pragma once
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// What bounds a training step, in words and tables.
int explain(const Invocation& invocation);

} // namespace stepsim::cli
