#pragma once
// Parses and prints quantities as users type them in flags: NUMBER [blanks] UNIT, with
// case-sensitive units. Results are in SI units (seconds, bytes, bytes per second, FLOP/s) or a
// ratio, a count, or an amount: a count of samples or tokens, which may end in K, M, B, G or T.
//     25Gbps = 3.125e9    25MiB = 26214400    5us = 5e-6    90% = 0.9
//     1,10,40Gbps   list; an entry without a unit takes the unit of the next entry that has one
//     4:64:x2       geometric range; its end is included if hit within 1e-9 relative; sizes and
//                   counts between are rounded, and each is listed once
//     1:9:+2        arithmetic range, with the same rule for its end
// In a range a start or step without a unit takes the unit of the end; an end without a unit takes
// the unit of the step. Negative numbers are refused; sizes, counts and amounts must be whole.
// Errors are returned as the text that follows `--flag VALUE: `. JSON files may also contain such
// texts, for every key with a unit and for fractions; a bare number in a file is in the unit that
// its key names.
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stepsim::base {

enum class QuantityKind { time, size, rate, flops, ratio, count, amount };

// What a number without a unit means. refused: an error, except for 0; si: a value in SI units, as
// in values that are set through a JSON pointer. Ratios, sizes (bytes) and amounts may always be
// bare, and counts always are.
enum class BareNumber { refused, si };

using QuantityResult = std::variant<double, std::string>;                  // value or error
using QuantityListResult = std::variant<std::vector<double>, std::string>; // values or error
inline constexpr std::size_t kMaxQuantityValues = 10'000'000;              // values per list

// Returns one value in SI units, or the text of the error.
[[nodiscard]] QuantityResult parse_quantity(std::string_view text, QuantityKind kind,
                                            BareNumber bare = BareNumber::refused);
[[nodiscard]] QuantityListResult parse_quantity_list(std::string_view text, QuantityKind kind,
                                                     BareNumber bare = BareNumber::refused);

// Returns the kind of quantity that a JSON key stands for, by its suffix: latency_s, size_bytes,
// bandwidth_Bps, flops_Ps, and times per element such as select_s_per_element; samples and tokens
// are amounts. Empty for other keys, per_byte_s among them.
[[nodiscard]] std::optional<QuantityKind> kind_of_key(std::string_view key);
// Returns "seconds", "bytes", "bytes/s", "FLOP/s", or "1" for ratios, counts and amounts.
[[nodiscard]] std::string_view si_unit(QuantityKind kind);
// Returns every unit of a kind, with alternative spellings, in the order of the table; empty for
// counts.
[[nodiscard]] std::vector<std::string_view> units(QuantityKind kind);

// Returns the value in a unit of units(kind), in the shortest form that parses back to the value
// within 1e-15: format_quantity(3.125e9, rate, "Gbps") = "25Gbps". The unit must exist (asserted).
[[nodiscard]] std::string format_quantity(double value, QuantityKind kind, std::string_view unit);

// The values from `low` to `high` hold the share `level` of all cases.
struct Band {
  double low{}, high{}, level{};
};

// Text for people, with 4 significant digits in a fitting unit: "18.04 ms", "26.21 MB", "3.125
// GB/s". A band stands beside its time in the same unit: "414.5 ms (344.8 to 653.7, 80 %)".
[[nodiscard]] std::string readable_seconds(double seconds, const std::optional<Band>& band = {});
// The same in s, min, h or days: "12.40 days (11.60 to 13.90, 80 %)".
[[nodiscard]] std::string readable_duration(double seconds, const std::optional<Band>& band = {});
// An amount: "300 B", "1.14 M".
[[nodiscard]] std::string readable_amount(double amount);
// A band alone, with values times `factor`: "(344.8 to 653.7, 80 %)".
[[nodiscard]] std::string readable_band(const Band& band, double factor = 1);
[[nodiscard]] std::string readable_bytes(double bytes);
// Returns a size that a user chose: "25 MiB" if it is a whole number of MiB, else as
// readable_bytes().
[[nodiscard]] std::string readable_size(std::int64_t bytes);
[[nodiscard]] std::string readable_rate(double bytes_per_second);

// The table of units of quantity.hpp. SI value = number x 10^exponent x factor. The power of ten is
// applied exactly, in decimal; the factor is an exact double (1/8, 60, a power of two).

struct Unit {
  std::string_view name;
  QuantityKind kind;
  int exponent;
  double factor;
};

// Returns the unit, or null if the kind has no such unit.
[[nodiscard]] const Unit* find_unit(std::string_view name, QuantityKind kind);
// Returns the few units that an error message names: "unit missing (s, ms, us, ns)".
[[nodiscard]] std::span<const std::string_view> common_units(QuantityKind kind);
// Returns the kind that has this unit: "time", "size", "rate", "speed of computing", "ratio" or
// "amount";
// empty if no kind has it.
[[nodiscard]] std::string_view kind_name_of_unit(std::string_view name);
// Returns the two meanings that a unit in the wrong case could have: "kB (1000 B) or KiB (1024 B)",
// "Gbps (bits) or GB/s (bytes)". Empty for other units.
[[nodiscard]] std::string two_readings(std::string_view name, QuantityKind kind);

// Writes numbers as text, independent of the locale: as the shortest decimal that reads back to the
// same double, or rounded for people.

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

// The number that a text is as a whole, without a unit.
// std::from_chars neither skips blanks nor accepts a leading plus sign, so "+5", " 5" and "5 GB"
// give no number. "inf" and "nan" are numbers for floating-point types.
template <class Number> [[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

// Ratios as people read them.

// The ratio in percent with `digits` significant digits: "0.179 %"; "0 %" for what only rounding
// leaves of zero. percent_number() leaves out the unit, for columns that have it in their heading.
[[nodiscard]] std::string percent(double ratio, int digits = 3);
[[nodiscard]] std::string percent_number(double ratio, int digits = 3);

} // namespace stepsim::base
