#pragma once
// stepsim collective: the cost of collective operations over a grid of flags (COL). A flag of
// numbers may have a list or a range; a flag of words, shapes or presets may have a list. Each
// combination gives one record. Files (--topology) and keys that are lists (--candidates) have a
// single value.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Rejects invalid combinations before anything is computed or printed. Returns kOk, or kInterrupted
// after Ctrl-C, when the points that were run are written. Throws UsageError that names the flag,
// InputError for FILE and for files that flags name, and SimulationError if a number of the result
// is not finite or the work exceeds --max-seconds.
[[nodiscard]] int collective(const Invocation& invocation);

} // namespace stepsim::cli
