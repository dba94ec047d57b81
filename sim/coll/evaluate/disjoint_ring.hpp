#pragma once
// A ring on a fabric whose connections share no link. No flow ever waits for another, so that each
// transfer takes the latency of its path and its bytes at the rate of the narrowest link, and the
// sweep of max_plus over these costs gives the times of the events: equal to 1e-12, but for ends
// that the flow level moves together (1e-9 of a flow's size, flow_level.hpp).
#include <optional>

#include "coll/collective.hpp"
#include "coll/evaluate/evaluation.hpp"

namespace stepsim::coll {

// What events() answers, messages and events counted as it counts them. Empty where this does not
// apply: another algorithm, connections that share a link, delays, headers, reduction costs of
// single ranks, fewer elements than ranks. Time O(ranks^2) at most, a vector step for each of its
// 2 (P - 1) steps.
[[nodiscard]] std::optional<Evaluation> disjoint_ring(const Collective& collective);

} // namespace stepsim::coll
