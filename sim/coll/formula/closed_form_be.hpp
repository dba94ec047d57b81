#pragma once
// Times of bidirectional exchange (be, COL 5.2), Rabenseifner's algorithm: recursive halving, then
// doubling. q = 2^K ranks exchange; F = 1 if the other P - q ranks fold their vectors into a
// partner's, else 0.
//     allreduce   (2K + 2F) alpha + (q-1)/q n (2 beta + gamma) + F n (2 beta + gamma)

#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

// A binomial scatter and a ring all-gather: (ceil(log2 P) + P-1) alpha + 2 (P-1)/P n beta. Empty if
// links have a delay and P is not a power of two.
[[nodiscard]] std::optional<ClosedForm> be_broadcast(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> be_reduce(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> be_allreduce(const Collective& collective);
// Both are the forms of Bruck's algorithm, which needs no fold and equals be if P is a power of
// two.
[[nodiscard]] std::optional<ClosedForm> be_reduce_scatter(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> be_allgather(const Collective& collective);
// The form that is printed for reduce and allreduce (cost form `paper`): the all-reduce of Bruck's
// algorithm, which has no fold.
[[nodiscard]] std::optional<ClosedForm> be_paper(const Collective& collective);

} // namespace stepsim::coll
