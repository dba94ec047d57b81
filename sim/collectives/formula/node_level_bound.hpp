#pragma once
// The bandwidth bound of nodes with several ranks (CLU 4), which may differ in size. Node k has G_k
// ranks and min(R, G_k) cards; P ranks are on N nodes. The ports of a node are its cards and, if it
// has several ranks, their ports inside the node; own_k are the bytes that its ranks own. So many
// bytes must pass the cards of node k, and so many its ports:
//                                cards              ports
//     allreduce                  n                  G_k n         all nodes: 2 (N-1) n, 2 (P-1) n
//     broadcast, reduce          n                  G_k n         in the node of the root n
//     allgather, reduce_scatter  n - own_k          G_k n - own_k
//     alltoall                   G_k (P - G_k) n/P  (G_k - 1) n/P at each rank, inside the node
#include "collectives/collective.hpp"
#include "nccl/node_bound.hpp"

namespace stepsim::collectives {

// Returns the seconds, and whether cards or the ports of GPUs set them. Needs several nodes, at
// least one of them with several ranks, and no separate links for pairs of ranks (none of it is
// checked).
[[nodiscard]] nccl::NodeBound node_level_bound(const Collective& collective);

} // namespace stepsim::collectives
