#pragma once
// Traces as JSON: the writer of the files that trace_file.hpp reads (kind trace, IO 3).
#include "train/workload/trace.hpp"
#include "json/json.hpp"

namespace stepsim::io {

// parse_trace of it gives an equal trace. Sizes and times that are unknown are null; most texts and
// lists that are empty are left out.
[[nodiscard]] Json to_json(const train::Trace& trace);

} // namespace stepsim::io
