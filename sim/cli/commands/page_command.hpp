#pragma once
// stepsim report RESULT|SCENARIO|RECORDS: writes one HTML page about a run, or about the records of
// a sweep, a comparison or collectives (REP 7). A result is run again from the scenario in it.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Writes the page, or with --json its facts. Returns kOk. Throws UsageError for flags, InputError
// for the file, and SimulationError if the run fails or is estimated to take longer than
// --max-seconds.
[[nodiscard]] int report_page(const Invocation& invocation);

} // namespace stepsim::cli
