#pragma once
// Synchronous training by a step of compute and messages: every planner, DeAR, priority,
// reduce and broadcast, compressed exchanges, workers that differ.
#include "run/result.hpp"

namespace stepsim::study {

// Also synchronous parameter servers whose workers are alike. Without random factors and stragglers
// all iterations have the steady period; that the first waits for nothing shows in the makespan
// alone. Where workers differ every iteration has times of its own, and buckets, layers and the
// timeline are those of equal workers. Throws SimulationError as the evaluators do.
[[nodiscard]] Result run_sync(const Scenario& scenario);

} // namespace stepsim::study
