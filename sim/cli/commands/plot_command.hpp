#pragma once
// stepsim plot FILE --x KEY --y KEY: records as a figure in SVG (REP 6).
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Throws UsageError for keys that no record has and for records that share an x, InputError for a
// value that an axis cannot show.
[[nodiscard]] int plot_records(const Invocation& invocation);

} // namespace stepsim::cli
