#pragma once
// stepsim plan PROBLEM: all planners on one merge problem (MER 5). The problem is gradients with
// ready times and a cost of a message; no scenario is needed.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Writes finish time and groups of every planner, next to the lower bound for one message at a
// time. Returns kOk. Throws InputError with all problems of the file, UsageError for an unknown
// planner and for one that needs more than a problem file holds.
[[nodiscard]] int plan(const Invocation& invocation);

} // namespace stepsim::cli
