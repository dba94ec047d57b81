#pragma once
// stepsim converge: trains a small problem for real, to see what staleness and compression do to
// the loss. `quadratic` counts in steps (PIP 11), `logistic` in the simulated seconds of a
// scenario.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk, or kTargetNotMet if no curve reaches --target-loss; a quadratic that grows is an
// answer and no failure. Throws UsageError for flags that are wrong or belong to the other problem,
// InputError for the scenario, SimulationError if a curve fails; all others are written first.
[[nodiscard]] int converge(const Invocation& invocation);

} // namespace stepsim::cli
