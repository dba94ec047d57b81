#pragma once
// stepsim import FORMAT FILE...: converts measurements of other tools to traces, samples, costs and
// topologies (IO 2 to 9).
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Writes the imported file to -o and prints a summary with print_beside(). Returns kOk. Throws
// UsageError for a flag that belongs to another format, and InputError for an input that lacks
// required data, such as a trace without gradient sizes if --allow-unknown-sizes is not given.
[[nodiscard]] int import_files(const Invocation& invocation);

} // namespace stepsim::cli
