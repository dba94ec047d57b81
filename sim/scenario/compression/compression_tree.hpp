#pragma once
// Writes /communication/compression as a tree, and the dense run that a compressed run is compared
// with.
#include "coll/compress/compression.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// Keys of `communication` of the dense run for speedup_vs_dense_overlapped: `baseline` of `json`,
// the value of /communication/compression; without it schedule ddp with buckets of 25 MiB.
[[nodiscard]] io::Json compression_baseline(const io::Json& json);
// The resolved object: the keys that the method uses, without `baseline`.
[[nodiscard]] io::Json compression_tree(const coll::Compression& compression);

} // namespace stepsim::study
