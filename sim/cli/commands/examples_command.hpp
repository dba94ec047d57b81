#pragma once
// stepsim examples DIR: copies the shipped examples and traces, whose commands stand in the
// documentation, into folders examples/ and traces/ of DIR, where they can be changed.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError for a file that is there with another content and without --force,
// and SimulationError if a file cannot be copied.
[[nodiscard]] int examples(const Invocation& invocation);

} // namespace stepsim::cli
