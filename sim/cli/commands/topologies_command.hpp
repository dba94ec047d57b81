#pragma once
// stepsim topologies list | show NAME|FILE: the shipped network profiles, topologies and node types
// with the sources of their numbers; --dot writes the graph of a topology.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError for an unknown name (with the nearest known one) and for --dot
// with a network profile or node type, and InputError for a file that cannot be read.
[[nodiscard]] int topologies(const Invocation& invocation);

// stepsim presets [NAME|FILE]: the same for node types only.
[[nodiscard]] int presets(const Invocation& invocation);

} // namespace stepsim::cli
