#pragma once
// What makes a compressed exchange unusable (SPA 14), as text for the user.
#include <vector>

#include "coll/collective.hpp"
#include "coll/compress/compression.hpp"
#include "coll/record.hpp"
#include "coll/validate.hpp"

namespace stepsim::coll {

// Of a compressed exchange of `base.bytes` dense bytes: the base as an all-reduce, then the method
// on these ranks, elements and `shapes` (of powersgd; empty = one 1-D tensor). `what` of a finding
// is a key of `compression`, or as `validate(base)` has it. Empty if the exchange can run.
[[nodiscard]] std::vector<Finding> validate(const Compression& compression,
                                            const std::vector<MatrixShape>& shapes,
                                            const Collective& base, AskedMethod asked);

} // namespace stepsim::coll
