#pragma once
// A cost function T(bytes) that is written into a scenario or a merge problem (MER 4).
#include "plan/cost.hpp"
#include "json/reader.hpp"

namespace stepsim::study {

// {"startup_s", "per_byte_s"} or {"table": [[bytes, seconds], ...]}. Problems are reported; the
// cost then means nothing. `report` gets what was changed to make a table non-decreasing.
[[nodiscard]] plan::Cost inline_cost(const io::Json& json, io::Problems& problems,
                                     plan::TableReport* report = nullptr);

} // namespace stepsim::study
