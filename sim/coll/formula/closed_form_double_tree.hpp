#pragma once
// Times of the double binary tree (COL 5.7): two trees with half of the message each, in blocks;
// every rank serves both trees in alternate slots, so that a block takes two slots.
#include "coll/formula/blocks.hpp"
#include "coll/formula/closed_form.hpp"
#include "coll/formula/symbols.hpp"
#include "coll/schedule/double_tree.hpp"

namespace stepsim::coll {

// Upper bound: every block is charged as one of b bytes.
//   (2(m-1) + D_r) (tau + g) + (2(m-1) + D_b) tau + (D_r + D_b) delta
// with tau = alpha_blk + b beta, g = b gamma, delta = alpha - alpha_blk, m blocks of b bytes in the
// larger tree and D_r, D_b of TreeDepths; for P = 2 it is 2 m tau + m g + 2 delta.
[[nodiscard]] ClosedForm double_tree_form(const Symbols& s, const TreeDepths& depths,
                                          const Blocks& blocks);

// The same in the blocks of the collective. Empty with a delay.
[[nodiscard]] std::optional<ClosedForm> double_tree_allreduce(const Collective& collective);
// 2 L alpha + n (beta + gamma): no fill, no slots shared. It can lie below what is possible.
[[nodiscard]] std::optional<ClosedForm> double_tree_paper(const Collective& collective);
// 2 L alpha + n (2 beta + gamma): infinitely fine pipelining that costs nothing.
[[nodiscard]] std::optional<ClosedForm> double_tree_ideal(const Collective& collective);

} // namespace stepsim::coll
