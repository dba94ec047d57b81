#pragma once
// stepsim semantics FILE: runs a sparse exchange on the vectors of a file, step by step (SPA 7), to
// check what the algorithm computes; no times are simulated.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk, or kTargetNotMet at the first difference from the `expected` of the file. Throws
// InputError with all problems of the file.
[[nodiscard]] int semantics(const Invocation& invocation);

} // namespace stepsim::cli
