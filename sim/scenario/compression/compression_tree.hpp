#pragma once
// /communication/compression back as a tree, and the dense run that a compressed one is compared
// with.
#include "coll/compress/compression.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// Keys of `communication` of the dense run for speedup_vs_dense_overlapped: `baseline` of `json`,
// the value of /communication/compression, or its default, schedule ddp with buckets of 25 MiB.
[[nodiscard]] io::Json compression_baseline(const io::Json& json);
// Resolved, with the keys that have a meaning for the method, less `baseline`.
[[nodiscard]] io::Json compression_tree(const coll::Compression& compression);

} // namespace stepsim::study
