#pragma once
// What makes a compressed exchange unusable (SPA 14), as text for the user.
#include <vector>

#include "coll/collective.hpp"
#include "coll/compress/compression.hpp"
#include "coll/record.hpp"
#include "coll/validate.hpp"

namespace stepsim::coll {

// Of a compressed exchange of `base.bytes` dense bytes: first `validate(base)`, whose findings are
// returned alone if there are any; then the method on these ranks, on bytes / value_bytes elements
// and on `shapes` (of powersgd; empty = one 1-D tensor); last whether `asked` can answer. `what` of
// a finding is a key of `compression`, or as `validate(base)` has it. Empty if the exchange can
// run.
[[nodiscard]] std::vector<Finding> validate(const Compression& compression,
                                            const std::vector<MatrixShape>& shapes,
                                            const Collective& base, AskedMethod asked);

} // namespace stepsim::coll
