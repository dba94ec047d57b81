#pragma once
// Numbers in logs and tables: the whole text must be one plain decimal number, independent of the
// locale, without blanks or thousands separators.
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepsim::io {

// The most elements of a tensor or a message that importers take: their bytes stay exact in a
// double.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 50;

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// std::from_chars neither skips blanks nor takes a leading plus sign, so that "+5", " 5" and "5 GB"
// are all refused. It does take "inf" and "nan" for floating-point numbers.
template <class Number> [[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

// Finite.
[[nodiscard]] inline std::optional<double> parse_real(std::string_view text) {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

[[nodiscard]] inline std::optional<std::int64_t> parse_whole(std::string_view text) {
  return parse_number<std::int64_t>(text);
}

// The number times 10^exponent, rounded once: "15143.7" with -6 is the double nearest to 0.0151437.
// The exponent is appended to the text instead of multiplying by a power of ten, which is not exact
// in binary: 15143.7 * 1e-6 may differ from 0.0151437 in its last bit. Texts that have an exponent
// already are multiplied and may be off by that bit.
[[nodiscard]] inline std::optional<double> parse_scaled(std::string_view text, int exponent) {
  const auto value = parse_real(text);
  if (!value || text.find_first_of("eE") != std::string_view::npos) {
    return value ? std::optional(*value * std::pow(10.0, exponent)) : value;
  }
  return parse_real(std::string(text) + "e" + std::to_string(exponent));
}

} // namespace stepsim::io
