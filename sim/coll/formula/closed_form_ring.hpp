#pragma once
// Times of rings (COL 5.4): P-1 rounds of n/P for reduce-scatter and for all-gather.
//     allreduce    2 (P-1) alpha + (P-1)/P n (2 beta + gamma)
//     allgatherv   (P-1) (alpha + s beta), s the largest part, which makes P-1 hops (COL 5.8)

#include <optional>

#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

[[nodiscard]] std::optional<ClosedForm> ring_allreduce(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> ring_reduce_scatter(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> ring_allgather(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> ring_allgatherv(const Collective& collective);

// Returns the seconds of a ring in whole elements in O(1), equal to max_plus within 1e-12. If P
// does not divide n, the longest part makes every hop, and no rank ever waits for more than one
// such hop. Empty if ranks or links differ, for algorithms but `ring`, for operations but
// all-reduce, reduce-scatter and all-gather, for cost forms but `exact`, and with 2P start-ups.
[[nodiscard]] std::optional<double> ring_seconds_of_longest_part(const Collective& collective);

} // namespace stepsim::coll
