#pragma once
// The figure of measured over predicted times (CAL 11), both axes logarithmic. A prediction is
// right on the line of equality. Rows that are not counted (ErrorRow::counts) are hollow. Each
// algorithm has its own marker, or its own panel if there are more algorithms than markers
// (plot::kRanks).
#include <span>
#include <string>

#include "calibrate/core/error_table.hpp"

namespace stepsim::calibrate {

// The figure as SVG. Needs at least one row (asserted).
[[nodiscard]] std::string error_plot(std::span<const ErrorRow> rows);

} // namespace stepsim::calibrate
