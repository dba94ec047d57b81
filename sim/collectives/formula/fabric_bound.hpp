#pragma once
// The lower bound of a collective on a fabric (derived from COL 6, with hosts in place of ranks).
#include "collectives/formula/lower_bound.hpp"

namespace stepsim::collectives {

// Returns the bound: hosts exchange what their ranks must exchange, at the rate of their own
// cables. The bound ignores the uplinks of switches, so that times on an oversubscribed fabric may
// be longer than the bound by the factor of the oversubscription. Needs `links.fabric`.
[[nodiscard]] LowerBound fabric_bound(const Collective& collective);

} // namespace stepsim::collectives
