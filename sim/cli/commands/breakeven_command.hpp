#pragma once
// stepsim breakeven PROBLEM: at which bandwidths compressed training is faster than dense training
// (SPA 12). The answer is a list of intervals, because compression can pay on slow and on fast
// networks and not in between.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Reads a file of kind compression_breakeven and writes the intervals and, for every bandwidth of
// the file, the step times of dense training that exchanges during backward, of dense training that
// exchanges after backward, and of compressed training. Returns kOk. Throws InputError with all
// problems of the file, UsageError for wrong flags, SimulationError for a time that is not finite.
[[nodiscard]] int breakeven(const Invocation& invocation);

} // namespace stepsim::cli
