#pragma once
// ring_rails (CLU 3.1, 3.5): K rings over all ranks, one per network card of a node (one on a
// single node), each with n/K bytes. Ring k visits the nodes in order. In every node it starts at
// local index k G/K and goes upwards modulo G. Example with two nodes of four GPUs and two cards:
//     ring 0   0 1 2 3   4 5 6 7
//     ring 1   2 3 0 1   6 7 4 5
// Ring k enters and leaves every node through card k, even where CLU 2 gives its first or last GPU
// another card (local index l has card l mod R): reaching card k inside the node costs nothing.
// The K rings always share the ports inside a node and the adder of a GPU, so each has separate
// ports at 1/K of the rate. The number of cards divides the number of GPUs per node, which is the
// same in all nodes.

#include "collectives/formula/blocks.hpp"

namespace stepsim::collectives {

struct Schedule;

inline constexpr AlgorithmId kRingRails{130};

// Appends the phases of an operation; broadcast and reduce are K pipelined chains (linear pipeline,
// COL 5.6) over the ranks of each ring, from or to the root.
void ring_rails_phases(Schedule& schedule, const Collective& collective);
// Returns the number of equal parts into which all K rings together cut the message: K P, or K for
// chains.
[[nodiscard]] double ring_rails_parts(const Collective& collective);
// Returns the blocks of the largest of the K chains; empty for operations other than broadcast and
// reduce. Unless options.block gives it, the block size is the best for m blocks and free
// additions, which take the sum of all hops + (m - 1) x the slowest hop (COL 5.6, unequal hops).
[[nodiscard]] std::optional<Blocks> ring_rails_blocks(const Collective& collective);

// The time S max(h_e, h_i) of S = P-1 steps, or 2 (P-1) for an allreduce. h_e = alpha_e + x beta_e
// on the card and h_i = alpha_i + K x beta_i inside a node, x = n/(K P); a level that does not
// exist is left out. Empty, so that max_plus is used, if additions take time, if links have delays,
// if sizes differ, or if sizes are exchanged first.
[[nodiscard]] std::optional<ClosedForm> ring_rails_passes(const Collective& collective);
// The time of every hop of the chain that crosses most nodes, then the slowest hop for each further
// block; an upper bound if the last block is shorter. Empty if additions take time, if links have
// delays, or if further blocks have another latency.
[[nodiscard]] std::optional<ClosedForm> ring_rails_chains(const Collective& collective);

} // namespace stepsim::collectives
