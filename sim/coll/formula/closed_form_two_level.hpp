#pragma once
// Times of the two-level algorithms (COL 5.9): the sum of the flat closed forms of both levels.
// Empty if the algorithm of a level has no form.

#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

// The sum of a ring reduce-scatter in nodes of G ranks, an all-reduce of n/G between nodes, for
// which a rank has a fixed share of its interface, and a ring all-gather in the nodes. Needs nodes
// of equal size (asserted).
[[nodiscard]] std::optional<ClosedForm> hierarchical_allreduce(const Collective& collective);
// The sum of a reduce to one leader per node, an all-reduce between leaders, and a broadcast from
// them. An upper bound if the last node is smaller, because its leader is ready earlier.
[[nodiscard]] std::optional<ClosedForm> hierarchical_leader_allreduce(const Collective& collective);

} // namespace stepsim::coll
