#pragma once
// stepsim collective: the cost of collective operations over a grid of flags (COL). Flags of
// numbers may be lists or ranges, those of words, shapes and presets lists; each combination gives
// one record. Files (--topology) and keys that are lists (--candidates) have one value.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Refuses invalid combinations before anything is computed or printed. Returns kOk. Throws
// UsageError that names the flag, InputError for FILE and the files that flags name,
// SimulationError for a result beyond the range of numbers and for work beyond --max-seconds.
[[nodiscard]] int collective(const Invocation& invocation);

} // namespace stepsim::cli
