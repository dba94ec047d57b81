#pragma once
// Runs jobs whose messages go through a simulated network, as flows or as packets.
#include "run/result.hpp"

namespace stepsim::study {

// The result; times are seconds from the start of the run. Throws SimulationError if the run lasts
// longer than /limits/simulated_s in simulated time, and if messages can never complete.
[[nodiscard]] Result run_network(const Scenario& scenario);

} // namespace stepsim::study
