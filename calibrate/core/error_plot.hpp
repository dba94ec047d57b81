#pragma once
// Measured over predicted as a picture (CAL 11): SVG, both axes logarithmic and equal, one colour
// and shape per algorithm, which repeat after eight algorithms; on the diagonal the prediction is
// right. Hollow marks are rows that do not count (ErrorRow::counts).
#include <span>
#include <string>

#include "calibrate/core/error_table.hpp"

namespace stepsim::calibrate {

[[nodiscard]] std::string error_plot(std::span<const ErrorRow> rows); // needs a row (asserted)

} // namespace stepsim::calibrate
