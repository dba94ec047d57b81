#pragma once
// Jobs whose messages go through a simulated network, flow by flow or packet by packet.
#include "run/result.hpp"

namespace stepsim::study {

// Times in seconds from the start of the run. Throws SimulationError beyond the limit of simulated
// time.
[[nodiscard]] Result run_network(const Scenario& scenario);

} // namespace stepsim::study
