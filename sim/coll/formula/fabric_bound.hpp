#pragma once
// The lower bound of a collective on a fabric (derived from COL 6 with hosts for ranks).
#include "coll/formula/lower_bound.hpp"

namespace stepsim::coll {

// Hosts exchange what their ranks must, at the rate of their own cables. Uplinks of switches are
// not looked at, so that an oversubscribed fabric stays above the bound by its oversubscription.
// Needs `links.fabric`.
[[nodiscard]] LowerBound fabric_bound(const Collective& collective);

} // namespace stepsim::coll
