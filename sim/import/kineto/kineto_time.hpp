#pragma once
// Reads profiler times, decimal microseconds of any number of digits. Those of today have 16 digits
// before the point ("1712195495523352.380"). A double rounds them to 0.25 us, which breaks the
// nesting of operators, so the text is converted to signed 64-bit nanoseconds:  "12.345" -> 12345,
// "2.5e3" -> 2500000,  "0.0004" -> 0 (nearest).
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace stepsim::io {

using Nanoseconds = std::int64_t;

// A JSON number in microseconds as nanoseconds, rounded to the nearest; empty if it is not a
// number, negative, or beyond 2^63 ns.
[[nodiscard]] std::optional<Nanoseconds> nanoseconds_from_microseconds(std::string_view literal);

// The median, exact also where a double is not; of an even number of times the mean of the middle
// two, rounded towards the lower one. Needs at least one time.
[[nodiscard]] Nanoseconds median_time(std::vector<Nanoseconds> times);

} // namespace stepsim::io
