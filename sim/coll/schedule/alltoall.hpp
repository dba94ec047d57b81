#pragma once
// All-to-all (CLU 3.4): every rank sends x = n/P bytes to every other rank, n being the send buffer
// of one rank; its own part stays where it is. N nodes of G ranks, P = N G, with R network cards
// each, c = ceil(G/R) ranks behind the busiest one:
//
//   pairwise       every pair of ranks exchanges its two messages directly. Messages between nodes
//                  hold the ports of the cards, those inside a node the ports of the ranks, and the
//                  two run side by side.
//     T = max(c (P-G) (alpha_e + x beta_e), (G-1) (alpha_i + x beta_i))
//   pairwise_pxn   a rank first hands its data to the rank of its node that has the local index of
//                  the destination, G-1 messages of N x; then ranks of one local index exchange
//                  N-1 messages of G x. Of several messages behind one card each gets its share.
//     T = (G-1) (alpha_i + N x beta_i) + (N-1) (alpha_e + c G x beta_e)
//
// The delay of a link adds to its term once: only the last message is waited for.
// One rank a node is G = 1: both are P-1 messages of x. On a fabric every rank has a card of its
// own, and the cables of its host are what ranks share.
#include "coll/formula/closed_form.hpp"
#include "coll/schedule/schedule.hpp"

namespace stepsim::coll {

inline constexpr AlgorithmId kPairwise{120};
inline constexpr AlgorithmId kPairwisePxn{121};

// T above. pairwise: empty on several nodes where R does not divide G: which messages wait for one
// another then depends on their order, and the schedule is the only answer.
[[nodiscard]] std::optional<ClosedForm> pairwise_alltoall(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> pairwise_pxn_alltoall(const Collective& collective);

// Append the phases. Both need nodes of equal size; throw SimulationError otherwise.
void add_pairwise_phases(Schedule& schedule, const Collective& collective);
void add_pairwise_pxn_phases(Schedule& schedule, const Collective& collective);

} // namespace stepsim::coll
