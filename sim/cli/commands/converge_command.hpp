#pragma once
// stepsim converge --problem quadratic|logistic: trains a small problem for real, to show the
// effect of staleness and compression on the loss. Curves are over steps for `quadratic` (PIP 11),
// and over the simulated seconds of a scenario for `logistic`.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk, or kTargetNotMet if no curve reaches --target-loss; a quadratic problem that
// diverges is a result, not an error. Throws UsageError for flags that are wrong or belong to the
// other problem, InputError for the scenario, and SimulationError if a curve fails, after all other
// curves are written.
[[nodiscard]] int converge(const Invocation& invocation);

} // namespace stepsim::cli
