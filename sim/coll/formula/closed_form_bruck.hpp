#pragma once
// Times of Bruck's algorithm (COL 5.3): L = ceil(log2 P) blocking rounds for any P.
//     reduce_scatter   L alpha + (P-1)/P n (beta + gamma)
//     allgather        L alpha + (P-1)/P n beta
//     allreduce        the sum of both

#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

[[nodiscard]] std::optional<ClosedForm> bruck_allreduce(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> bruck_reduce_scatter(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> bruck_allgather(const Collective& collective);
// Also used by be (bidirectional exchange). Empty for unequal sizes, because the last round then
// depends on which rank holds which data.
[[nodiscard]] std::optional<ClosedForm> bruck_allgatherv(const Collective& collective);

} // namespace stepsim::coll
