#pragma once
// stepsim report RESULT|SCENARIO|RECORDS: an answer as one page of HTML (REP 7).
#include "cli/shell/app.hpp"

namespace stepsim::cli {

[[nodiscard]] int report_page(const Invocation& invocation);

} // namespace stepsim::cli
