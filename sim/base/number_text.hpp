#pragma once
// Writes numbers as text, independent of the locale: as the shortest decimal that reads back to the
// same double, or rounded for people.
#include <cstdint>
#include <string>
#include <string_view>

namespace stepsim::base {

// Returns the shortest round-trip form ("0.1", "1e-05", "3"); finite values only (asserted).
[[nodiscard]] std::string shortest(double value);
// Appends shortest(value) without a temporary string, for writers on a hot path.
void append_shortest(std::string& out, double value);
// Appends the decimal digits of `value`, with a minus sign if it is negative.
void append_integer(std::string& out, std::int64_t value);

// Returns `value` with `digits` significant digits (1 to 17, asserted). From 1e-4 to below 1e9 it
// is in plain notation, which keeps all digits before the point ("18.04", "0.002345", "123457").
// The text is for people only, so infinite and undefined ratios are allowed: "inf", "-inf" and
// "nan".
[[nodiscard]] std::string significant(double value, int digits = 4);

// Returns the nearest number with `digits` significant decimal digits (1 to 17).
[[nodiscard]] double rounded_to(double value, int digits);
// The value to 12 digits, by which rows are ordered: times that differ only by rounding are equal.
[[nodiscard]] inline double comparable(double value) { return rounded_to(value, 12); }

// Returns the count with its noun: "1 flow", "3 flows", "2 switches" (plural "es").
[[nodiscard]] std::string counted(std::int64_t count, std::string_view noun,
                                  std::string_view plural = "s");

// Ratios as people read them.

// The ratio in percent with `digits` significant digits: "0.179 %"; "0 %" for what only rounding
// leaves of zero. percent_number() leaves out the unit, for columns that have it in their heading.
[[nodiscard]] std::string percent(double ratio, int digits = 3);
[[nodiscard]] std::string percent_number(double ratio, int digits = 3);

} // namespace stepsim::base
