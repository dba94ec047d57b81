#pragma once
// Times of the linear pipeline (COL 5.6), where m blocks of b bytes, the last of n - (m-1) b,
// travel along a chain of all ranks. The block search and the closed forms use the same functions.
// tau = alpha_blk + b beta is a block hop, g = b gamma a block addition, delta = alpha - alpha_blk.
#include "coll/formula/blocks.hpp"
#include "coll/formula/closed_form.hpp"
#include "coll/formula/symbols.hpp"

namespace stepsim::coll {

// Seconds in `blocks`; never empty for broadcast and reduce. The allreduce has no form (COL 3 d)
// with a delay of the link; with overlapped additions where g > tau, or where delta is not 0 and
// there is no last hop; with serial additions unless delta is 0 and there is a last hop.
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

[[nodiscard]] std::optional<ClosedForm> lp_broadcast(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> lp_reduce(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> lp_allreduce(const Collective& collective);
// As printed: (P - 1 + n/b) tau(b) per pipeline, any real number of blocks.
[[nodiscard]] std::optional<ClosedForm> lp_broadcast_paper(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> lp_reduce_paper(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> lp_allreduce_paper(const Collective& collective);

} // namespace stepsim::coll
