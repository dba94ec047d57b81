#pragma once
// stepsim-calibrate report ERRORS.jsonl...: how well predictions met measurements (CAL 11).
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// Returns kOk, or kTargetNotMet where an error is above --max-median, --max-p90 or --max-error;
// a limit is also missed where no row counts. Throws InputError for the records, UsageError for
// flags and where no row has --min-bytes. With -o FILE the report is Markdown (JSON where that is
// asked for), and a plot of measured over predicted time is written next to it as SVG.
[[nodiscard]] int report(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
