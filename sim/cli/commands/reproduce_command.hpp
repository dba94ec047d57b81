#pragma once
// stepsim reproduce PAPER: runs the commands behind the figures of a paper, draws the figures, and
// decides for each claim of the paper whether it is met (REP 1).
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk, also if claims are not met; kTargetNotMet if with --check a committed page or
// picture is missing or differs. Throws UsageError for flags, and SimulationError or InputError if
// a run fails.
[[nodiscard]] int reproduce(const Invocation& invocation);

} // namespace stepsim::cli
