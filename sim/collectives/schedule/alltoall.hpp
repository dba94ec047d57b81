#pragma once
// All-to-all (CLU 3.4): every rank sends x = n/P bytes to every other rank, where n is the send
// buffer of one rank; its own part is not sent. There are N nodes of G ranks (P = N G) with R
// network cards each, and c = ceil(G/R) ranks share the busiest card:
//
//   pairwise       every pair of ranks exchanges its two messages directly. Messages between nodes
//                  hold the ports of the cards, messages inside a node the ports of the ranks, and
//                  both levels run at the same time.
//     T = max(c (P-G) (alpha_e + x beta_e), (G-1) (alpha_i + x beta_i))
//   pairwise_pxn   every rank first gives its data to the rank of its node that has the local index
//                  of the destination, in G-1 messages of N x; then ranks of one local index
//                  exchange N-1 messages of G x. Messages that share a card get equal shares.
//     T = (G-1) (alpha_i + N x beta_i) + (N-1) (alpha_e + c G x beta_e)
//
// The delay of a link is added once to its term, because only the last message is waited for. With
// one rank per node (G = 1) both send P-1 messages of x. On a fabric every rank has a separate
// card, and ranks share the cables of their host.
#include "collectives/formula/closed_form.hpp"
#include "collectives/schedule/schedule.hpp"

namespace stepsim::collectives {

inline constexpr AlgorithmId kPairwise{120};
inline constexpr AlgorithmId kPairwisePxn{121};

// Return T above. pairwise_alltoall() is empty on several nodes if R does not divide G, because T
// then depends on the order of the messages, which only the schedule has.
[[nodiscard]] std::optional<ClosedForm> pairwise_alltoall(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> pairwise_pxn_alltoall(const Collective& collective);

// Append the phases of the algorithm to `schedule`. Throw SimulationError unless the operation is
// an alltoall and gpus_per_node divides the ranks. They do not read ranks_per_node, whose counts
// validate_nodes() requires to be equal.
void add_pairwise_phases(Schedule& schedule, const Collective& collective);
void add_pairwise_pxn_phases(Schedule& schedule, const Collective& collective);

} // namespace stepsim::collectives
