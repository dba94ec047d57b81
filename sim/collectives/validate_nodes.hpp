#pragma once
// Checks what the algorithms over nodes require of a cluster: equal nodes, cards that divide the
// GPUs, switches that add, and messages that can be cut into chunks (CLU 3, 5, 13).
#include <vector>

#include "collectives/validate.hpp"

namespace stepsim::collectives {

// Returns the problems; the collective must be valid otherwise.
[[nodiscard]] std::vector<Finding> validate_nodes(const Collective& collective);

} // namespace stepsim::collectives
