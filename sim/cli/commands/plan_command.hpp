#pragma once
// stepsim plan PROBLEM: runs all planners on one merge problem (MER 5), that is, on gradients with
// ready times and a message cost. No scenario is needed.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Writes the finish time and the groups of every planner, next to the lower bound for one message
// at a time. Returns kOk. Throws InputError with all problems of the file, and UsageError for an
// unknown planner or one that needs data that problem files do not have.
[[nodiscard]] int plan(const Invocation& invocation);

} // namespace stepsim::cli
