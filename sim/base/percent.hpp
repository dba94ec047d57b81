#pragma once
// Ratios as people read them.
#include <string>

namespace stepsim::base {

// The ratio in percent with `digits` significant digits: "0.179 %"; "0 %" for what only rounding
// leaves of zero. percent_number() leaves out the unit, for columns that have it in their heading.
[[nodiscard]] std::string percent(double ratio, int digits = 3);
[[nodiscard]] std::string percent_number(double ratio, int digits = 3);

} // namespace stepsim::base
