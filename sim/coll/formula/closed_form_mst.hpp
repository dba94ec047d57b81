#pragma once
// Times of trees (COL 5.1): R rounds of the whole message, R = ceil(log2 P), or P-1 in a flat tree.
//     broadcast   R (alpha + n beta)          reduce   R (alpha + n (beta + gamma))
// Scatter and gather, where an operation has parts, take L alpha + (P-1)/P n beta, L = ceil(log2
// P). With a delay all are empty where P is no power of two, or the tree is flat and P > 2.

#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

[[nodiscard]] std::optional<ClosedForm> mst_broadcast(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> mst_reduce(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> mst_allreduce(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> mst_reduce_scatter(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> mst_allgather(const Collective& collective);
// As printed: the same, but without delays and never marked as an upper bound.
[[nodiscard]] std::optional<ClosedForm> mst_reduce_paper(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> mst_allreduce_paper(const Collective& collective);

} // namespace stepsim::coll
