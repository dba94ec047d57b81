#pragma once
// Reads and writes the `source` object of traces and samples (IO 2) as layers::Source, and reads
// the `warnings` next to it. Their keys are in keys/source_keys.hpp.

#include "document/reader.hpp"
#include "layers/trace.hpp"

namespace stepsim::io {

// Reads the keys of kSource; the object may have further keys, which the caller reads.
[[nodiscard]] layers::Source read_source(Fields& fields);
// The texts of `warnings` of a file; empty if there are none.
[[nodiscard]] std::vector<std::string> parse_warnings(Fields& fields);
[[nodiscard]] Json to_json(const layers::Source& source);

} // namespace stepsim::io
