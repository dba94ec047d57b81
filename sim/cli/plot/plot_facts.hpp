#pragma once
// The numbers of a figure of records, in the units of its axes: the output of `plot --json`.
#include "cli/plot/rows_figure.hpp"
#include "document/fields/schema.hpp"

namespace stepsim::cli {

[[nodiscard]] io::Json plot_facts(const RowsFigure& drawn);
[[nodiscard]] io::FileKind plot_result_kind(); // the kind of file with these numbers

} // namespace stepsim::cli
