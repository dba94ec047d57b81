#pragma once
// Times of trees (mst, COL 5.1): R rounds of the whole message, R = ceil(log2 P), or P-1 in a flat
// tree.
//     broadcast   R (alpha + n beta)          reduce   R (alpha + n (beta + gamma))
// The scatter and gather of reduce_scatter and allgather take L alpha + (P-1)/P n beta each, L =
// ceil(log2 P). If links have a delay, the functions return no form unless P is a power of two and
// the tree is binomial (or P <= 2).

#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

[[nodiscard]] std::optional<ClosedForm> mst_broadcast(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> mst_reduce(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> mst_allreduce(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> mst_reduce_scatter(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> mst_allgather(const Collective& collective);
// The published forms (cost form `paper`). They ignore delays, so they always exist, and they never
// set `upper_bound`.
[[nodiscard]] std::optional<ClosedForm> mst_reduce_paper(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> mst_allreduce_paper(const Collective& collective);

} // namespace stepsim::coll
