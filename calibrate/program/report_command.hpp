#pragma once
// stepsim-calibrate report ERRORS.jsonl...: summarises the errors of predictions (CAL 11).
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// Returns kTargetNotMet if an error is above --max-median, --max-p90 or --max-error, or if one of
// these is given and none of the rows counts (ErrorRow::counts() in core/error_table.hpp); else
// kOk. Rows below --min-bytes are left out before. Throws InputError for the records, and
// UsageError for flags and if --min-bytes leaves no row. With -o FILE the report is Markdown (or
// JSON, if requested), and a plot of measured over predicted time is written next to it as SVG.
[[nodiscard]] int report(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
