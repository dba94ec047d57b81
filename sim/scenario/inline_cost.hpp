#pragma once
// Reads a cost function T(bytes) that is part of a scenario or a merge problem (MER 4).
#include "buckets/cost.hpp"
#include "document/reader.hpp"

namespace stepsim::study {

// {"startup_s", "per_byte_s"} or {"table": [[bytes, seconds], ...]}. The cost is only valid if no
// problem is reported. `report` receives the changes that made a table non-decreasing.
[[nodiscard]] buckets::Cost inline_cost(const io::Json& json, io::Problems& problems,
                                        buckets::TableReport* report = nullptr);

} // namespace stepsim::study
