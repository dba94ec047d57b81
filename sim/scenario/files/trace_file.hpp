#pragma once
// Reads trace files (kind trace, IO 3) as layers::Trace; trace_file.hpp writes them. Sizes and
// times may be null: such a trace is valid, but `run` refuses it. Besides types and ranges it is
// checked that
//   - bytes and extra_bytes of the tensors of a layer, if all are known, sum up to its
//     gradient_bytes;
//   - the bytes of a tensor are its elements times the size of its dtype, and its shape has as many
//     elements;
//   - buckets are numbered from 0 in their order.

#include "document/json.hpp"
#include "layers/trace.hpp"

namespace stepsim::io {

// Throws InputError with all problems.
[[nodiscard]] layers::Trace parse_trace(const Json& json);

// Writes traces as JSON, in the format that trace_file.hpp reads (kind trace, IO 3).

// parse_trace() of the result gives an equal trace. Unknown sizes and times are null; most empty
// texts and lists are left out.
[[nodiscard]] Json to_json(const layers::Trace& trace);

} // namespace stepsim::io
