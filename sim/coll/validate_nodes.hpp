#pragma once
// What the algorithms over nodes ask of a cluster: equal nodes, cards that divide the GPUs,
// switches that add, and messages that can be cut into chunks (CLU 3, 5, 13).
#include <vector>

#include "coll/validate.hpp"

namespace stepsim::coll {

// Needs a collective that is valid otherwise.
[[nodiscard]] std::vector<Finding> validate_nodes(const Collective& collective);

} // namespace stepsim::coll
