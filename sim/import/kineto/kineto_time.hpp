#pragma once
// Profiler times are decimal microseconds, 16 digits and three decimals ("1712195495523352.380").
// A double rounds those to 0.25 us and mis-nests operators, so the literal text is read into
// signed 64-bit nanoseconds:  "12.345" -> 12345,  "2.5e3" -> 2500000,  "0.0004" -> 0 (nearest).
#include <cstdint>
#include <optional>
#include <string_view>

namespace stepsim::io {

using Nanoseconds = std::int64_t;

// A JSON number in microseconds as nanoseconds, rounded to the nearest; empty if it is no number,
// negative or beyond 2^63 ns.
[[nodiscard]] std::optional<Nanoseconds> nanoseconds_from_microseconds(std::string_view literal);

} // namespace stepsim::io
