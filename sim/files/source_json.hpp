#pragma once
// The `source` object of traces and imported cost files (IO 2), to and from train::Source.
#include "train/workload/trace.hpp"
#include "json/json.hpp"
#include "json/reader.hpp"

namespace stepsim::io {

[[nodiscard]] train::Source parse_source(const Json& json, Problems& problems);
[[nodiscard]] Json to_json(const train::Source& source);

} // namespace stepsim::io
