#pragma once
// stepsim run SCENARIO: one scenario, its result, and with --timeline what happened when. SCENARIO
// may also be a result or, with --point, the output of a sweep: the same scenario is run again.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError for a value that a flag gave, InputError for all others of the
// file, SimulationError if the run fails or is estimated to take longer than --max-seconds.
[[nodiscard]] int run(const Invocation& invocation);

} // namespace stepsim::cli
