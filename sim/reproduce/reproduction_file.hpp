#pragma once
// Files of kind reproduction to values (reproduction.hpp). Besides types and ranges: names of runs,
// tables and figures are unique, and what names one names one that is there.
#include "reproduce/reproduction.hpp"
#include "json/json.hpp"

namespace stepsim::reproduce {

// Throws InputError with all problems found.
[[nodiscard]] Reproduction parse_reproduction(const io::Json& tree);

} // namespace stepsim::reproduce
