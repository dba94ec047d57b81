#pragma once
// The formulas of the recursive doubling all-reduce (COL 5.5). With K = floor(log2 P), 2^K of the P
// ranks exchange the whole vector K times. F is 0 if P is a power of two, else 1: before the
// exchanges, each of the other ranks sends its vector to one of the 2^K (the fold), and after
// them it gets the result back.
//     (K + 2F) alpha + K n (beta + gamma) + F n (2 beta + gamma)

#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

// The formula above. If Collective::held_bytes is given, the message of a round has the bytes that
// a rank holds by then. With held_bytes, or with a link delay, there is a formula only for P = 2^K.
// With F = 1 and overlapped additions (gamma > 0) the formula is an upper bound.
[[nodiscard]] std::optional<ClosedForm> recursive_doubling_allreduce(const Collective& collective);
// The published formula (cost form `paper`), without the fold: L (alpha + n (beta + gamma)) with
// L = ceil(log2 P). Empty with held_bytes.
[[nodiscard]] std::optional<ClosedForm> recursive_doubling_paper(const Collective& collective);

} // namespace stepsim::coll
