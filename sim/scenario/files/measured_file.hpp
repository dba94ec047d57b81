#pragma once
// Reads files of kind measured_training (SPA 10.2), NAME.measured.json in traces/:
//
//   {"name", "source", "note", "models": [{"name", "parameters", "batch_size", "note",
//     "phases": {"ranks", "method", "compute_s", "compress_s", "communication_s"},
//     "samples_per_s_per_gpu": {METHOD: {"RANKS": number}}}]}
#include "document/json.hpp"
#include "layers/measured.hpp"

namespace stepsim::io {

// Throws InputError with all problems found.
[[nodiscard]] layers::MeasuredTraining parse_measured(const Json& json);

} // namespace stepsim::io
