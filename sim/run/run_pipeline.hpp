#pragma once
// Pipe-SGD (1811.03619): a step applies the gradient of an earlier iteration, so that up to K
// iterations of compute and exchange overlap.
#include "run/result.hpp"

namespace stepsim::study {

// Throws SimulationError as the evaluators do. Accuracy is not modelled; the staleness is reported.
[[nodiscard]] Result run_pipeline(const Scenario& scenario);

} // namespace stepsim::study
