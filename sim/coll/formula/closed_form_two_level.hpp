#pragma once
// Times of the two-level algorithms (COL 5.9): the flat closed forms of each level, one after the
// other. Empty where the algorithm of a level has no form.

#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

// Ring reduce-scatter in the nodes, an all-reduce of n/G between nodes at the share of an interface
// that a local rank gets, ring all-gather in the nodes. Needs nodes of equal size (asserted).
[[nodiscard]] std::optional<ClosedForm> hierarchical_allreduce(const Collective& collective);
// Reduce to a leader per node, all-reduce between leaders, broadcast from them. An upper bound
// where the last node is smaller: its leader is ready earlier.
[[nodiscard]] std::optional<ClosedForm> hierarchical_leader_allreduce(const Collective& collective);

} // namespace stepsim::coll
