#pragma once
// stepsim solve SCENARIO --for POINTER --between LO,HI --target METRIC=VALUE: finds every value of
// one field at which a metric of the result crosses a target.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk, or kTargetNotMet with the closest point if there is no crossing. Throws UsageError
// for the field, the bounds or the metric, InputError for other errors of the scenario, and
// SimulationError if every point fails.
[[nodiscard]] int solve(const Invocation& invocation);

} // namespace stepsim::cli
