#pragma once
// stepsim compare SCENARIO --over POINTER=V1,V2,...: runs every combination of the values and
// prints one table, best first. If the number of batches per iteration varies, as with the number
// of workers, the rows are in the order of the grid. --algorithms adds an axis with ways to
// exchange gradients.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Writes all rows, then throws SimulationError if any of them failed. Returns kOk, or kInterrupted
// after Ctrl-C, when only the finished rows are written; with --algorithms or --rows, Ctrl-C ends
// the command without any. Throws UsageError for flags and values of --over, InputError for other
// errors of the scenario.
[[nodiscard]] int compare(const Invocation& invocation);

} // namespace stepsim::cli
