#pragma once
// stepsim init: a first scenario that runs, from a trace, from a model on a GPU, or from nothing.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError for a value that a flag gave and where -o is a file that exists
// (--force replaces it), InputError for what a named file holds.
[[nodiscard]] int init(const Invocation& invocation);

} // namespace stepsim::cli
