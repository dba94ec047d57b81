#pragma once
// Times of rings (COL 5.4): P-1 rounds of n/P for reduce-scatter and for all-gather.
//     allreduce    2 (P-1) alpha + (P-1)/P n (2 beta + gamma)
//     allgatherv   (P-1) (alpha + s beta), s the largest part: it makes P-1 hops (COL 5.8)

#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

[[nodiscard]] std::optional<ClosedForm> ring_allreduce(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> ring_reduce_scatter(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> ring_allgather(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> ring_allgatherv(const Collective& collective);

} // namespace stepsim::coll
