#pragma once
// Finds what makes a compressed exchange unusable (SPA 14), as text for the user.
#include <vector>

#include "collectives/collective.hpp"
#include "collectives/compress/compression.hpp"
#include "collectives/record.hpp"
#include "collectives/validate.hpp"

namespace stepsim::collectives {

// Returns the problems of a compressed exchange of `base.bytes` dense bytes; empty if it can run.
// If `validate(base)` finds problems, only these are returned. Else it checks the method on these
// ranks, on bytes / value_bytes elements and on `shapes` (for powersgd; empty = one 1-D tensor),
// and then whether `asked` can time it. `what` of a finding is a key of `compression`, or as in
// `validate(base)`.
[[nodiscard]] std::vector<Finding> validate(const Compression& compression,
                                            const std::vector<MatrixShape>& shapes,
                                            const Collective& base, AskedMethod asked);

} // namespace stepsim::collectives
