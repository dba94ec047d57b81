#pragma once
// Runs Pipe-SGD (arXiv 1811.03619) with pipeline width K: a step applies the gradient of an earlier
// iteration, so that compute and exchange of up to K iterations overlap.
#include "run/result.hpp"

namespace stepsim::study {

// The result, with the staleness of gradients; accuracy is not modelled. Throws SimulationError
// where the evaluator of the exchanges throws it (max_plus.hpp, events.hpp).
[[nodiscard]] Result run_pipeline(const Scenario& scenario);

} // namespace stepsim::study
