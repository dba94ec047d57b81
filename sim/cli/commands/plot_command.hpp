#pragma once
// stepsim plot FILE --x KEY --y KEY: records as a figure in SVG (REP 6).
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError for a key that no record has, for two records of one curve with
// the same x, and for wrong flags; InputError for a value that an axis cannot show.
[[nodiscard]] int plot_records(const Invocation& invocation);

} // namespace stepsim::cli
