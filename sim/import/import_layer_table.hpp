#pragma once
// Imports a hand-made table of layers (IO 9): CSV (RFC 4180, or tabs) with one row per layer in
// forward order and columns in any order:
//   name, params (elements) or bytes, a forward and a backward time (fwd_us, forward_ms, bwd_s,
//   ..), optional dtype (default float32) and tensors
// `tensors` is the number of tensors (default 1; for several, the sizes are unknown), or their
// elements in registration order: 2048000;1000.

#include "scenario/files/import_source.hpp"

namespace stepsim::io {

// Returns times in seconds and sizes in bytes. Throws InputError
// `layers.csv:7: bwd_us: not a number: "1,2"` (IO 17), for up to 20 rows at once; a wrong header
// gives a single error.
[[nodiscard]] layers::Trace import_layer_table(const std::string& file,
                                               const ImportOptions& options);

} // namespace stepsim::io
