#pragma once
// Sanity bounds of network speeds and latencies. No network is slower than 1 kB/s, faster
// than 1e14 B/s (800 Tb/s) or answers after more than 10 s: such a number lacks its unit. A file
// that means it says "allow_unusual": true at its top.
#include <optional>
#include <string>
#include <string_view>

#include "json/reader.hpp"

namespace stepsim::study {

// What is odd about the value of a key that ends in bandwidth_Bps or latency_s, or is delay_s:
//     25 bytes/s: did you mean "25Gbps"? Below 1 kB/s needs "allow_unusual": true
// Empty for usual values, among them a bandwidth of 0, and for all other keys.
[[nodiscard]] std::optional<std::string> unusual(std::string_view key, double value);

// A problem for every unusual value at or below `tree`, unless `allowed`.
void refuse_unusual(const io::Json& tree, bool allowed, io::Problems& problems);

} // namespace stepsim::study
