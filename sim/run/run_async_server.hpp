#pragma once
// A parameter server that takes the push of every worker as it comes: no worker waits for another,
// and gradients are applied to weights that others have changed meanwhile (staleness).
#include "run/result.hpp"
#include "train/step/parameter_server.hpp"

namespace stepsim::study {

// Times in seconds; an iteration of worker 0 stands for all. Throws SimulationError as the
// evaluation of its exchange does.
[[nodiscard]] Result run_async_server(const Scenario& scenario);

// What the asynchronous server simulates, for the order of its updates.
[[nodiscard]] train::AsyncInput async_input(const Scenario& scenario);

} // namespace stepsim::study
