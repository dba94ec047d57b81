#pragma once
// Closed forms of streams of blocks: the linear pipeline (lp, COL 5.6), of m blocks of b bytes, the
// last of n - (m-1) b, along a chain of all ranks; and the double binary tree (COL 5.7), of which
// each tree carries half of the message, and every rank serves both in alternate slots, so that a
// block takes two slots. The block search and the closed forms use the same functions. A block
// takes tau = alpha_blk + b beta for a hop and g = b gamma for an addition; the first block of a
// message takes delta = alpha - alpha_blk longer for each hop.
#include "collectives/formula/blocks.hpp"

namespace stepsim::collectives {

// Returns the form for messages cut into `blocks`. Not empty for broadcast and reduce. Empty for an
// allreduce (COL 3 d)
//   if links have a delay;
//   with overlapped additions if g > tau, or if delta is not 0 and there is no last hop;
//   with serial additions unless delta is 0 and there is a last hop.
[[nodiscard]] std::optional<ClosedForm> lp_form(const Symbols& s, Op op, bool last_hop,
                                                const Blocks& blocks);

// Returns the seconds of an allreduce with overlapped additions slower than the hops (g > tau),
// equal blocks, a last hop and delta = 0:
//   max((2P-1) tau + (P+m-2) g, u + m tau), u = (P-1) tau + (P+m-3) g, or m tau for P = 2
// In the first term, the tail adds the last block, which then travels around; u is when the last
// sender but one has passed on all partial sums. Derived, and equal to max_plus. It is for the
// block search and planners only: max_plus times a run in this case (COL 3 d).
[[nodiscard]] double lp_allreduce_slow_additions(const Symbols& s, const Blocks& blocks);
// Returns lp_allreduce_slow_additions() with the block size of a collective, for planners that cost
// many sizes; empty if its conditions do not hold.
[[nodiscard]] std::optional<double> lp_slow_additions_seconds(const Collective& collective);

// Returns lp_form() with the block size of the collective.
[[nodiscard]] std::optional<ClosedForm> lp_exact(const Collective& collective);
// The published form (cost form `paper`): (P-1) (alpha + b beta) + n/b (alpha_blk + b beta) for
// each pipeline, of which an all-reduce has two, and ((P-1) b + n) gamma once if there are
// additions. The number of blocks, n/b, need not be whole.
[[nodiscard]] std::optional<ClosedForm> lp_paper(const Collective& collective);

// Returns the numbers of the formulas of pipelines and trees (block_times.hpp). The
// formulas of a pipeline do not read the depths.
[[nodiscard]] StreamNetwork stream_network(const Symbols& s, const TreeDepths& depths);

// Returns an upper bound, because every block is charged as one of b bytes:
//   (2(m-1) + D_r) (tau + g) + (2(m-1) + D_b) tau + (D_r + D_b) delta
// with m blocks of b bytes in the larger tree, D_r = depths.reduce and D_b = depths.broadcast. For
// P = 2 it is 2 m tau + m g + 2 delta.
[[nodiscard]] ClosedForm double_tree_form(const Symbols& s, const TreeDepths& depths,
                                          const Blocks& blocks);

// Returns double_tree_form() with the block size of the collective. Empty if links have a delay.
[[nodiscard]] std::optional<ClosedForm> double_tree_allreduce(const Collective& collective);
// The published form (cost form `paper`), 2 L alpha + n (beta + gamma) with L = ceil(log2 P). It
// leaves out that the pipeline must fill and that both trees share the slots of a rank, so it can
// be shorter than any schedule.
[[nodiscard]] std::optional<ClosedForm> double_tree_paper(const Collective& collective);
// The form for infinitely small blocks at no cost per block (cost form `ideal`):
// 2 L alpha + n (2 beta + gamma).
[[nodiscard]] std::optional<ClosedForm> double_tree_ideal(const Collective& collective);

} // namespace stepsim::collectives
