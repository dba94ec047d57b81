#pragma once
// Runs training with an asynchronous parameter server, which applies the push of every worker when
// it arrives, so that a gradient is applied to weights that other workers have changed meanwhile
// (staleness). In mode async no worker waits for another; in mode ssp one that is too far ahead
// waits for the slowest.
#include "programs/step/parameter_server.hpp"
#include "run/result.hpp"

namespace stepsim::study {

// The result of the run. The times in the summary are means over all workers; the list of
// iterations shows worker 0. Throws SimulationError where the evaluator of its exchange throws it.
[[nodiscard]] Result run_async_server(const Scenario& scenario);

// The input that run_async_server() passes to programs::run_async(), for callers that need the
// single updates.
[[nodiscard]] programs::AsyncInput async_input(const Scenario& scenario);

} // namespace stepsim::study
