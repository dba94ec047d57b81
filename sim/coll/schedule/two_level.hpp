#pragma once
// two_level (CLU 3.2, 3.3): rings inside the nodes and rings of equal local indices between them,
// on the cards, which c = ceil(G/R) ranks share for good.
//     allgather        across nodes, blocks n/P; then inside every node, blocks n/G
//     reduce_scatter   the mirror: inside first, then across
//     allreduce        reduce_scatter, then allgather
//     broadcast        the root scatters its G parts in its node, binomial trees carry each part
//                      across nodes, and rings gather them inside
//     reduce           the mirror, with binomial reduces
// The rings of broadcast and reduce are never cut. The others may run in C chunks of n/C bytes that
// follow each other in every phase: while chunk 1 is inside its nodes, chunk 0 is on the cards. The
// ports of a phase are free when all of its chunk is there, additions included.
//     inside   chunk 0 | chunk 1 | chunk 2
//     across             chunk 0 | chunk 1 | chunk 2
#include <optional>

#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

struct Schedule;

inline constexpr AlgorithmId kTwoLevel{131};
inline constexpr std::uint32_t kMostChunks = 1024;

// Whether the operation can be cut into chunks.
[[nodiscard]] bool takes_chunks(AlgorithmId algorithm, Op op);
// The chunks C of a message that is pipelined between levels: the number given, or the one with the
// shortest time for equal ranks and links; the smallest where several are equally fast. 1 for
// algorithms and operations without chunks.
[[nodiscard]] std::uint32_t pipeline_chunks(const Collective& collective);

void two_level_phases(Schedule& schedule, const Collective& collective);
// Equal parts that the message is cut into: C P, or G of a broadcast and a reduce.
[[nodiscard]] double two_level_parts(const Collective& collective);

// With N nodes of G ranks (formula/node_shape.hpp) and, of a chunk, inside nodes and across
//     t_in = (G-1) (alpha_i + (beta_i + g) n/(C G))
//     t_out = (N-1) (alpha_e + (c beta_e + g) n/(C P)),  g = gamma where sums are made, else 0:
//     half        t_in + t_out + (C - 1) max(t_in, t_out)    allgather, reduce_scatter
//     allreduce   that of the reduce_scatter plus that of the allgather
// Derived; a flow shop of two stages with equal jobs. All phases of one kind go before those of
// the next, so that the two halves of an all-reduce do not overlap. Empty with delays, for sizes
// that differ and where sizes are exchanged first.
[[nodiscard]] std::optional<ClosedForm> two_level_allreduce(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> two_level_half(const Collective& collective);
// (G-1)(alpha_i + beta_i n/G) for the scatter and for the rings, and between them ceil(log2 N)
// times alpha_e + c beta_e n/G; a reduce adds n/G gamma in every step of its rings and trees. An
// upper bound for overlapped additions on a number of nodes that is no power of two (COL 3). Empty
// with delays.
[[nodiscard]] std::optional<ClosedForm> two_level_rooted(const Collective& collective);

} // namespace stepsim::coll
