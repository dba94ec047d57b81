#pragma once
// stepsim compare SCENARIO --over POINTER=V1,V2,...: every combination of the values as one table,
// best first, or in the order of the grid where the batches of an iteration vary, as with the
// number of workers. --algorithms adds the ways of exchanging gradients as one more axis.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Writes all rows, then throws SimulationError if any of them failed; else returns kOk. An error in
// a value that --over gave is a UsageError, all others of the scenario are InputErrors.
[[nodiscard]] int compare(const Invocation& invocation);

} // namespace stepsim::cli
