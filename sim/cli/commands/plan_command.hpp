#pragma once
// stepsim plan PROBLEM: runs the planners of --planners, by default seven, on one merge problem
// (MER 5), that is, on gradients with ready times and a message cost. No scenario is needed.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Writes the finish time, from the start of backward, and the groups of each planner, next to the
// lower bound for one message at a time. Returns kOk. Throws InputError with all problems of the
// file, and UsageError for an unknown planner or one that needs data that problem files lack.
[[nodiscard]] int plan(const Invocation& invocation);

} // namespace stepsim::cli
