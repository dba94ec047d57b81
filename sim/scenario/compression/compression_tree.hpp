#pragma once
// Writes /communication/compression as a tree, and the dense run that a compressed run is compared
// with.
#include "collectives/compress/compression.hpp"
#include "document/json.hpp"

namespace stepsim::study {

// The keys of /communication of the dense run that speedup_vs_dense_overlapped compares with.
// `json` is the value of /communication/compression. They are its key `baseline`, or without that
// key the schedule ddp with buckets of 25 MiB.
[[nodiscard]] io::Json compression_baseline(const io::Json& json);
// The resolved value of /communication/compression: the keys that the method uses, without
// `baseline`.
[[nodiscard]] io::Json compression_tree(const collectives::Compression& compression);

} // namespace stepsim::study
