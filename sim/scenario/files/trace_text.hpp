#pragma once
// Writes traces as JSON, in the format that trace_file.hpp reads (kind trace, IO 3).
#include "document/json.hpp"
#include "layers/trace.hpp"

namespace stepsim::io {

// parse_trace() of the result gives an equal trace. Unknown sizes and times are null; most empty
// texts and lists are left out.
[[nodiscard]] Json to_json(const layers::Trace& trace);

} // namespace stepsim::io
