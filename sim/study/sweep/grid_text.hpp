#pragma once
// Parses axes and values from the command line.
#include <string>
#include <string_view>
#include <utility>

#include "study/sweep/grid.hpp"

namespace stepsim::study {

// These parse the argument of a flag: `--over POINTER=V1,V2,..` and `--set POINTER=VALUE`. A value
// is JSON, else a quantity whose unit suits the suffix of the key (_s, _Bps, _bytes, _Ps), else a
// string. --over also takes lists and ranges of quantities (base/quantity.hpp). Both throw
// UsageError if the text is invalid.
[[nodiscard]] Axis parse_over(std::string_view text);
[[nodiscard]] std::pair<std::string, io::Json> parse_set(std::string_view text);

} // namespace stepsim::study
