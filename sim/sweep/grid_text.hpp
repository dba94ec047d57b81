#pragma once
// Axes and values as they are written on the command line.
#include <string>
#include <string_view>
#include <utility>

#include "sweep/grid.hpp"

namespace stepsim::study {

// `--over POINTER=V1,V2,..`, `--set POINTER=VALUE`: values are JSON, else quantities with a unit
// converted by the key's unit (suffix _s, _Bps, _bytes, _Ps), else strings; in --over also lists
// and ranges of quantities (base/quantity.hpp). Throws UsageError.
[[nodiscard]] Axis parse_over(std::string_view text);
[[nodiscard]] std::pair<std::string, io::Json> parse_set(std::string_view text);

} // namespace stepsim::study
