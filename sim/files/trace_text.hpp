#pragma once
// Traces as JSON: the writer of the files that trace_file.hpp reads (kind trace, IO 3).
#include "train/workload/trace.hpp"
#include "json/json.hpp"

namespace stepsim::io {

// Every key of the format; empty lists are left out. Sizes and times that are unknown are null.
[[nodiscard]] Json to_json(const train::Trace& trace);

} // namespace stepsim::io
