#pragma once
// stepsim init: writes a first scenario that runs, from a trace, from a model on a GPU, or from
// defaults alone.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError for flags and if the file of -o exists (--force replaces it), and
// InputError for the content of a named file.
[[nodiscard]] int init(const Invocation& invocation);

} // namespace stepsim::cli
