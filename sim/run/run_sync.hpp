#pragma once
// Synchronous training as one step of compute and messages that repeats. It covers every schedule
// (plan/planners.hpp), exchanges by all-reduce or by reduce and broadcast, compressed exchanges,
// and workers that differ.
#include "run/result.hpp"

namespace stepsim::study {

// Runs sync_sgd, and parameter_server in mode sync unless run_server_rounds() takes it. If all
// workers are equal, every iteration has the steady period; only the makespan shows that the first
// iteration waits for no earlier exchange. If workers differ, every iteration has its own times,
// but the buckets, layers and timeline are computed for equal workers (kEqualWorkers). Throws
// SimulationError as the evaluators of collectives do.
[[nodiscard]] Result run_sync(const Scenario& scenario);

} // namespace stepsim::study
