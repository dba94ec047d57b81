#pragma once
// stepsim import FORMAT FILE...: measurements of other tools as traces, samples, costs and
// topologies (IO 2 to 9).
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Writes the imported file to -o and a summary next to it. Returns kOk. Throws InputError for what
// the input cannot give (a trace without gradient sizes is refused here and not when it is run,
// unless --allow-unknown-sizes is given), UsageError for a flag that belongs to another format.
[[nodiscard]] int import_files(const Invocation& invocation);

} // namespace stepsim::cli
