#pragma once
// Finds what makes a compressed exchange unusable (SPA 14), as text for the user.
#include <vector>

#include "coll/collective.hpp"
#include "coll/compress/compression.hpp"
#include "coll/record.hpp"
#include "coll/validate.hpp"

namespace stepsim::coll {

// Returns the problems of a compressed exchange of `base.bytes` dense bytes; empty if it can run.
// If `validate(base)` finds problems, only these are returned. Else it checks the method on these
// ranks, on bytes / value_bytes elements and on `shapes` (for powersgd; empty = one 1-D tensor),
// and then whether `asked` can time it. `what` of a finding is a key of `compression`, or as in
// `validate(base)`.
[[nodiscard]] std::vector<Finding> validate(const Compression& compression,
                                            const std::vector<MatrixShape>& shapes,
                                            const Collective& base, AskedMethod asked);

} // namespace stepsim::coll
