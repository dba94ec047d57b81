#pragma once
// The bandwidth bound of nodes with several ranks (CLU 4), also where nodes differ in size. With
// G_k ranks and min(R, G_k) cards on node k, and P ranks on N nodes:
//     allreduce                  n out of every node; 2 (N-1) n over all cards, 2 (P-1) n over all
//                                ports
//     broadcast, reduce          n into (out of) every node but the root's, and each of its ranks
//     allgather, reduce_scatter  n less what a node owns, over its cards and over its ports
//     alltoall                   G_k (P - G_k) n / P over the cards of a node
#include "coll/collective.hpp"
#include "library/node_bound.hpp"

namespace stepsim::coll {

// Seconds, and whether cards or the ports of GPUs set them. Several nodes, one of them with several
// ranks; no pair of ranks has a link of its own.
[[nodiscard]] library::NodeBound node_level_bound(const Collective& collective);

} // namespace stepsim::coll
