#pragma once
// stepsim fit-overlap MEASURED -o OVERLAP: how much overlap slows computing, from measured steps.
// Returns kOk. Throws UsageError for flags, InputError for MEASURED, also where it has fewer rows
// than there are constants to fit.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

[[nodiscard]] int fit_overlap_command(const Invocation& invocation);

} // namespace stepsim::cli
