#pragma once
// Numbers as text, independent of the locale: the shortest decimal that reads back to the same
// double, and a rounded form for people.
#include <cstdint>
#include <string>
#include <string_view>

namespace stepsim::base {

// Shortest round-trip form ("0.1", "1e-05", "3"); finite values only (asserted).
[[nodiscard]] std::string shortest(double value);
// Appends the same; for writers on a hot path.
void append_shortest(std::string& out, double value);
// The decimal digits, with a minus sign where needed.
void append_integer(std::string& out, std::int64_t value);

// `digits` significant digits (1 to 17, asserted), plain notation from 1e-4 to below 1e9 ("18.04",
// "0.002345", "1234"). For people only, so a ratio that overflows is "inf" and one without a value
// "nan".
[[nodiscard]] std::string significant(double value, int digits = 4);

// The nearest number with `digits` significant decimal digits (1 to 17).
[[nodiscard]] double rounded_to(double value, int digits);

// "1 flow", "3 flows", "2 switches" (plural "es").
[[nodiscard]] std::string counted(std::int64_t count, std::string_view noun,
                                  std::string_view plural = "s");

} // namespace stepsim::base
