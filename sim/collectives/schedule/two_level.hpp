#pragma once
// two_level (CLU 3.2, 3.3): rings inside the nodes, and rings of equal local indices between nodes
// through the cards; c = ceil(G/R) ranks always share a card.
//     allgather        across nodes, blocks of n/P; then inside every node, blocks of n/G
//     reduce_scatter   the mirror: inside first, then across
//     allreduce        reduce_scatter, then allgather
//     broadcast        the root scatters its G parts in its node, binomial trees carry each part
//                      across nodes, and rings gather them inside
//     reduce           the mirror, with binomial reduces
// Broadcast and reduce are never cut into chunks. The other operations may run in C chunks of n/C
// bytes, which follow each other through the phases: while chunk 1 is inside its nodes, chunk 0 is
// on the cards. The ports of a phase are free when its whole chunk has arrived and has been added.
//     inside   chunk 0 | chunk 1 | chunk 2
//     across             chunk 0 | chunk 1 | chunk 2
#include <optional>

#include "collectives/formula/closed_form.hpp"

namespace stepsim::collectives {

struct Schedule;

inline constexpr AlgorithmId kTwoLevel{131};
inline constexpr std::uint32_t kMostChunks = 1024;

// Whether the operation of this algorithm can be cut into chunks.
[[nodiscard]] bool takes_chunks(AlgorithmId algorithm, Op op);
// Returns C, the number of chunks of a message that is pipelined between levels: the given number,
// or the number with the shortest time for equal ranks and links (the smallest of several). 1 for
// algorithms and operations without chunks.
[[nodiscard]] std::uint32_t pipeline_chunks(const Collective& collective);

void two_level_phases(Schedule& schedule, const Collective& collective);
// Returns the number of equal parts into which the message is cut: C P, or G for a broadcast and a
// reduce.
[[nodiscard]] double two_level_parts(const Collective& collective);

// With N nodes of G ranks (collectives/formula/node_shape.hpp), the times of a chunk inside nodes
// and across are
//     t_in = (G-1) (alpha_i + (beta_i + g) n/(C G))
//     t_out = (N-1) (alpha_e + (c beta_e + g) n/(C P)),  g = gamma if sums are made, else 0:
//     half        t_in + t_out + (C - 1) max(t_in, t_out)    allgather, reduce_scatter
//     allreduce   the time of the reduce_scatter + the time of the allgather
// Derived: a flow shop of two stages with equal jobs. All phases of one kind run before those of
// the next, so the two halves of an all-reduce do not overlap. Empty if links have delays, if sizes
// differ, or if sizes are exchanged first.
[[nodiscard]] std::optional<ClosedForm> two_level_rings(const Collective& collective);
// (G-1)(alpha_i + beta_i n/G) for the scatter and again for the rings, and between them ceil(log2
// N) times alpha_e + c beta_e n/G; a reduce adds n/G gamma in every step of its rings and trees. An
// upper bound for overlapped additions if the number of nodes is not a power of two (COL 3). Empty
// if links have delays.
[[nodiscard]] std::optional<ClosedForm> two_level_rooted(const Collective& collective);

// The schedules of the two-level algorithms (COL 5.9), built from flat ones. Equal nodes of G ranks
// have ranks k G .. k G + G-1 in node k. Only hierarchical_leader allows nodes of different sizes.
//     hierarchical          ring reduce-scatter in every node, an all-reduce of the shards of one
//                           local index between nodes, ring all-gather in every node
//     hierarchical_leader   reduce to the first rank of every node, all-reduce between these ranks,
//                           broadcast from them
// options.inter_algorithm is the all-reduce between nodes, options.intra_algorithm the reduce and
// broadcast in a node.
//
// Appends the phases of hierarchical or hierarchical_leader, which the collective names. Throws
// SimulationError for an operation other than allreduce, and for hierarchical with unequal nodes.
void add_two_level_phases(Schedule& schedule, const Collective& collective);

} // namespace stepsim::collectives
