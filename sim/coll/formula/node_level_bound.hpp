#pragma once
// The bandwidth bound of nodes with several ranks (CLU 4), which may differ in size. Node k has G_k
// ranks and min(R, G_k) cards; P ranks are on N nodes. These bytes must pass:
//     allreduce                  n out of every node; 2 (N-1) n through all cards, 2 (P-1) n
//                                through all ports
//     broadcast, reduce          n into (out of) every node but the root's, and each of its ranks
//     allgather, reduce_scatter  n less what a node owns, through its cards and through its ports
//     alltoall                   G_k (P - G_k) n / P through the cards of a node
#include "coll/collective.hpp"
#include "library/node_bound.hpp"

namespace stepsim::coll {

// Returns the seconds, and whether cards or the ports of GPUs set them. Needs several nodes, at
// least one of them with several ranks, and no separate links for pairs of ranks (none of it is
// checked).
[[nodiscard]] library::NodeBound node_level_bound(const Collective& collective);

} // namespace stepsim::coll
