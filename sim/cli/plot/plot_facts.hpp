#pragma once
// The numbers that a picture of records shows, in the units of its axes: what plot --json writes.
#include "cli/plot/rows_figure.hpp"
#include "json/fields/schema.hpp"

namespace stepsim::cli {

[[nodiscard]] io::Json plot_facts(const RowsFigure& drawn);
[[nodiscard]] io::FileKind plot_result_kind();

} // namespace stepsim::cli
