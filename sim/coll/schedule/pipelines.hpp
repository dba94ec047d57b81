#pragma once
// Times of the two pipelined algorithms for a given split into blocks (COL 5.6, 5.7); the block
// search (`blocks.cpp`) and the closed forms use the same functions.
// tau = alpha_blk + b beta is a block hop, g = b gamma a block addition, delta = alpha - alpha_blk.
#include <optional>

#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

// Linear pipeline in m blocks of b, the last of n - (m-1) b. Empty for the allreduce with g > tau,
// and where delta > 0 or serial additions meet a case without formula (COL 3 d).
[[nodiscard]] std::optional<ClosedForm> lp_form(const Symbols& s, Op op, bool last_hop,
                                                const Blocks& blocks);

// Allreduce with overlapped additions slower than the hops, g > tau, equal blocks, with last hop
// and delta = 0 (derived; equal to max_plus). For the block search and for planners: COL 3 d leaves
// the time of a run in this case to max_plus.
//   max((2P-1) tau + (P+m-2) g, u + m tau), u = (P-1) tau + (P+m-3) g, or m tau for P = 2
// First term: the tail adds the last block, which then travels around; u: the last sender but one
// has passed on all partial sums.
[[nodiscard]] double lp_allreduce_slow_additions(const Symbols& s, const Blocks& blocks);
// The same for a collective in its own blocks, for planners that cost many sizes; empty outside
// that case.
[[nodiscard]] std::optional<double> lp_slow_additions_seconds(const Collective& collective);

// D_r and D_b: slots until the first block has passed both trees, up and down.
struct TreeDepths {
  double reduce{};
  double broadcast{};
};
[[nodiscard]] TreeDepths double_tree_depths(std::uint32_t ranks);

// Upper bound: every block is charged as one of b bytes.
[[nodiscard]] ClosedForm double_tree_form(const Symbols& s, const TreeDepths& depths,
                                          const Blocks& blocks);

} // namespace stepsim::coll
