#pragma once
// stepsim run SCENARIO: runs one scenario and writes its result, and a timeline with --timeline.
// SCENARIO may also be a result or, with --point, the output of a sweep: its scenario is run again;
// or a file of kind program, which is evaluated.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError for flags and their values, InputError for other errors of the
// file, and SimulationError if the run fails or is estimated to take longer than --max-seconds.
[[nodiscard]] int run(const Invocation& invocation);

} // namespace stepsim::cli
