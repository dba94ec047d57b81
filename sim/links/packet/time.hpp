#pragma once
// Time of the packet level in signed 64-bit picoseconds, so that results are exact and independent
// of the platform. 1500 bytes take 1,200,000 ps at 10 Gbit/s, 120,000 ps at 100 Gbit/s.
//   transmission = ceil(bytes 10^12 / B), B in whole bytes/s: a link is never faster than its rate
// Source: PKT 3.1.
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>

namespace stepsim::links {

using Picoseconds = std::int64_t;

inline constexpr Picoseconds kNeverPs = std::numeric_limits<Picoseconds>::max();

inline constexpr double kMostSeconds = 9e6; // largest time that can be converted

[[nodiscard]] inline Picoseconds to_picoseconds(double seconds) {
  assert(seconds >= 0 && seconds <= kMostSeconds && "times are between 0 and 9e6 s");
  return std::llround(seconds * 1e12);
}

[[nodiscard]] inline double to_seconds(Picoseconds time) {
  return static_cast<double>(time) * 1e-12;
}

// Returns the transmission time. Needs bytes < 2^23, so that the product with 10^12 fits.
[[nodiscard]] constexpr Picoseconds transmission(std::int64_t bytes, std::int64_t bytes_per_s) {
  return (bytes * 1'000'000'000'000 + bytes_per_s - 1) / bytes_per_s;
}

} // namespace stepsim::links
