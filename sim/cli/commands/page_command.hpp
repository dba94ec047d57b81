#pragma once
// stepsim report RESULT|SCENARIO|RECORDS: presents an answer as one HTML page (REP 7).
#include "cli/shell/app.hpp"

namespace stepsim::cli {

[[nodiscard]] int report_page(const Invocation& invocation);

} // namespace stepsim::cli
