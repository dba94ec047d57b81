#pragma once
// Trace files (kind trace, IO 3) to and from train::Trace. Sizes and times may be null: such a
// trace is valid, `run` refuses it. Checked besides types and ranges: a layer's tensors sum to its
// gradient_bytes, a tensor's bytes are its elements times the size of its dtype.
#include <string>

#include "train/workload/trace.hpp"
#include "json/json.hpp"

namespace stepsim::io {

// Throws InputError with all problems found.
[[nodiscard]] train::Trace parse_trace(const Json& json);
// Every key of the format; empty lists are left out.
[[nodiscard]] Json to_json(const train::Trace& trace);

} // namespace stepsim::io
