#pragma once
// Times of recursive doubling of whole vectors (COL 5.5): K = floor(log2 P) exchanges of the whole
// message among 2^K ranks; F = 1 if the others fold theirs in first.
//     (K + 2F) alpha + K n (beta + gamma) + F n (2 beta + gamma)

#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

// With `held_bytes` the messages grow. With growing messages, and with a delay, the form exists for
// P = 2^K only.
[[nodiscard]] std::optional<ClosedForm> recursive_doubling_allreduce(const Collective& collective);
// As printed, without the fold.
[[nodiscard]] std::optional<ClosedForm> recursive_doubling_paper(const Collective& collective);

} // namespace stepsim::coll
