#pragma once
// stepsim fit-overlap MEASURED -o OVERLAP: fits the slowdowns of overlapping compute and exchanges
// to measured steps. Returns kOk. Throws UsageError for flags, and InputError for MEASURED, also if
// it has fewer rows than there are constants to fit.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

[[nodiscard]] int fit_overlap_command(const Invocation& invocation);

} // namespace stepsim::cli
