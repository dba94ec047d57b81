#pragma once
// Measured over predicted as a figure (CAL 11): both axes logarithmic, on the line of equality the
// prediction is right. Hollow marks are rows that do not count (ErrorRow::counts). Algorithms have
// a marker of their own, or a panel each where there are more than five.
#include <span>
#include <string>

#include "calibrate/core/error_table.hpp"

namespace stepsim::calibrate {

// SVG. Needs a row (asserted).
[[nodiscard]] std::string error_plot(std::span<const ErrorRow> rows);

} // namespace stepsim::calibrate
