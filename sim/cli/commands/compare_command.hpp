#pragma once
// stepsim compare SCENARIO --over POINTER=V1,V2,...: runs every combination of the values and shows
// them in one table, best first; in grid order if the number of batches per iteration varies, as
// with the number of workers. --algorithms adds an axis with ways to exchange gradients.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Writes all rows, then throws SimulationError if any of them failed; else returns kOk. Throws
// UsageError for flags and values of --over, InputError for other errors of the scenario.
[[nodiscard]] int compare(const Invocation& invocation);

} // namespace stepsim::cli
