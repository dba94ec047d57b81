#pragma once
// Times of the double binary tree (COL 5.7): two trees carry half of the message each, in blocks.
// Every rank serves both trees in alternate slots, so that a block takes two slots.
#include "coll/formula/blocks.hpp"
#include "coll/formula/closed_form.hpp"
#include "coll/formula/symbols.hpp"
#include "coll/schedule/double_tree.hpp"

namespace stepsim::coll {

// Returns the numbers of the formulas of pipelines and trees (block_times.hpp); those of a pipeline
// do not read the depths.
[[nodiscard]] StreamNetwork stream_network(const Symbols& s, const TreeDepths& depths);

// Returns an upper bound, because every block is charged as one of b bytes:
//   (2(m-1) + D_r) (tau + g) + (2(m-1) + D_b) tau + (D_r + D_b) delta
// with tau = alpha_blk + b beta, g = b gamma, delta = alpha - alpha_blk, m blocks of b bytes in the
// larger tree, D_r = depths.reduce and D_b = depths.broadcast. For P = 2 it is
// 2 m tau + m g + 2 delta.
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

} // namespace stepsim::coll
