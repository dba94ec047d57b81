#pragma once
// Jobs whose messages go through a simulated network, flow by flow or packet by packet.
#include "run/result.hpp"

namespace stepsim::study {

// Times in seconds from the start of the run. Throws SimulationError if the run would simulate more
// than /limits/simulated_s, and if messages can never complete.
[[nodiscard]] Result run_network(const Scenario& scenario);

} // namespace stepsim::study
