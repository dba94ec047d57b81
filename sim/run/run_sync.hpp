#pragma once
// Synchronous training by a step of compute and messages: every planner, DeAR, priority,
// reduce and broadcast, compressed exchanges, workers that differ.
#include "run/result.hpp"

namespace stepsim::study {

// Also parameter servers in rounds whose workers are all alike. Throws SimulationError.
// Every iteration is the steady one: the first, which waits for nothing, only differs in the
// makespan.
[[nodiscard]] Result run_sync(const Scenario& scenario);

} // namespace stepsim::study
