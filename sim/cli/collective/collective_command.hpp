#pragma once
// stepsim collective: the cost of collective operations over a grid of flags (COL). Every flag may
// be a list or a range; each combination gives one record.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Refuses invalid combinations before anything is computed or printed. Returns kOk. Throws
// UsageError that names the flag, InputError for the files of --links, --sizes and --topology,
// SimulationError for a result beyond the range of numbers.
[[nodiscard]] int collective(const Invocation& invocation);

} // namespace stepsim::cli
