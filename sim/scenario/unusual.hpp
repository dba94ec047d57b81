#pragma once
// Sanity bounds of network speeds and latencies. A bandwidth below 1 kB/s or above 1e14 B/s
// (800 Tb/s) and a latency of 10 s or more are refused, because such a number most likely lacks its
// unit; so are buckets below 256 bytes for gradients of 1 MB or more. A file with "allow_unusual":
// true among its top-level keys may have such values.
#include <optional>
#include <string>
#include <string_view>

#include "document/reader.hpp"

namespace stepsim::study {

// The error message for an unusual value of a key that ends in bandwidth_Bps, latency_s or
// bucket_bytes, or is delay_s:
//     25 bytes/s: did you mean "25Gbps"? Below 1 kB/s needs "allow_unusual": true
// Empty for a usual value, for a bandwidth of 0, and for every other key.
[[nodiscard]] std::optional<std::string> unusual(std::string_view key, double value);

// Adds a problem for every unusual value in `tree`, at any depth; adds none if `allowed`.
void refuse_unusual(const io::Json& tree, bool allowed, io::Problems& problems);

} // namespace stepsim::study
