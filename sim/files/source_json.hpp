#pragma once
// The `source` object of traces and samples (IO 2), to and from train::Source, and the `warnings`
// next to it; the rows of both are in keys/source_keys.hpp.
#include <string>
#include <vector>

#include "train/workload/trace.hpp"
#include "json/json.hpp"
#include "json/reader.hpp"

namespace stepsim::io {

[[nodiscard]] train::Source parse_source(const Json& json, Problems& problems);
// The same of an object that has further keys, which the caller reads.
[[nodiscard]] train::Source read_source(Fields& fields);
// The texts of `warnings` of a file, none where it has none.
[[nodiscard]] std::vector<std::string> parse_warnings(Fields& fields);
[[nodiscard]] Json to_json(const train::Source& source);

} // namespace stepsim::io
