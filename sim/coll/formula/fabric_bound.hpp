#pragma once
// The lower bound of a collective on a fabric (derived from COL 6, with hosts in place of ranks).
#include "coll/formula/lower_bound.hpp"

namespace stepsim::coll {

// Returns the bound: hosts exchange what their ranks must exchange, at the rate of their own
// cables. The bound ignores the uplinks of switches, so an oversubscribed fabric stays above it by
// its oversubscription. Needs `links.fabric`.
[[nodiscard]] LowerBound fabric_bound(const Collective& collective);

} // namespace stepsim::coll
