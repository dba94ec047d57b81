#pragma once
// A ring on a fabric whose connections share no link. No flow waits for another one, so each
// transfer takes the latency of its path and its bytes at the rate of the narrowest link. The
// max_plus sweep over these costs then gives the times of events(): equal to 1e-12, except for flow
// ends that the flow level merges (within 1e-9 of a flow's size, flow_level.hpp).
#include <optional>

#include "collectives/collective.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/schedule/schedule.hpp"

namespace stepsim::collectives {

// Returns the result of events() for a collective on a fabric, with its numbers of messages and
// events. Empty if the shortcut does not apply: another algorithm, connections that share a link,
// delays, headers, reduction costs per rank, fewer elements than ranks. Takes at most O(ranks^2)
// time, one vector step for each of the 2 (P - 1) steps.
[[nodiscard]] std::optional<Evaluation> disjoint_ring(const Collective& collective);

// Whether disjoint_ring() has a result for the collective, whose schedule is given. O(ranks) paths.
[[nodiscard]] bool has_disjoint_ring(const Collective& collective, const Schedule& schedule);

// A ring of equal ranks on equal links, whose parts have the same size: all ranks do the same at
// the same times. One path of messages (largest_messages.hpp) gives what events() gives, within
// 1e-12, with its numbers of messages and events. Empty if has_equal_ring()
// (collectives/method.hpp) is false, and where one phase has another ring. Takes O(ranks) time.
[[nodiscard]] std::optional<Evaluation> equal_ring(const Collective& collective);

} // namespace stepsim::collectives
