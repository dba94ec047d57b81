#pragma once
// stepsim fit-overlap MEASURED -o OVERLAP: how much overlap slows computing, from measured steps.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

[[nodiscard]] int fit_overlap_command(const Invocation& invocation);

} // namespace stepsim::cli
