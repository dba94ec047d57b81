#pragma once
// Training with micro-batches or sharding: the scenario becomes a program, and its evaluators give
// the result (TRN 2.3). Equal workers have an exact period; jitter and stragglers are followed
// rank by rank.
#include "run/result.hpp"

namespace stepsim::study {

// Throws SimulationError as scenario_program(), and where ranks that differ would have too many
// operations.
[[nodiscard]] Result run_program(const Scenario& scenario);

} // namespace stepsim::study
