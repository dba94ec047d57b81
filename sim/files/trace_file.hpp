#pragma once
// Trace files (kind trace, IO 3) to train::Trace; trace_text.hpp writes them. Sizes and times may
// be null: such a trace is valid, `run` refuses it. Checked besides types and ranges: a layer's
// tensors sum to its gradient_bytes, a tensor's bytes are its elements times the size of its dtype,
// its shape has as many elements, buckets are numbered from 0 in their order.
#include <string>

#include "train/workload/trace.hpp"
#include "json/json.hpp"

namespace stepsim::io {

// Throws InputError with all problems found.
[[nodiscard]] train::Trace parse_trace(const Json& json);

} // namespace stepsim::io
