#pragma once
// A parameter server that takes the push of every worker as it comes: no worker waits for another,
// and gradients are applied to weights that others have changed meanwhile (staleness).
#include "run/result.hpp"
#include "train/step/parameter_server.hpp"

namespace stepsim::study {

// Times in seconds: in the summary means over all workers, in the iterations those of worker 0.
// Throws SimulationError as the evaluation of its exchange does.
[[nodiscard]] Result run_async_server(const Scenario& scenario);

// The input that run_async_server gives to train::run_async, for callers that need the updates
// themselves and not a Result.
[[nodiscard]] train::AsyncInput async_input(const Scenario& scenario);

} // namespace stepsim::study
