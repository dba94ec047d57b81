#pragma once
// Jobs whose messages go through a simulated network, flow by flow or packet by packet.
#include "run/result.hpp"

namespace stepsim::study {

[[nodiscard]] Result run_network(const Scenario& scenario);

} // namespace stepsim::study
