#pragma once
// Parses numbers in logs and tables. The whole text must be one plain decimal number, without
// blanks or thousands separators; the locale has no effect.
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

// Finite numbers only.
[[nodiscard]] inline std::optional<double> parse_real(std::string_view text) {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

[[nodiscard]] inline std::optional<std::int64_t> parse_whole(std::string_view text) {
  return parse_number<std::int64_t>(text);
}

// The number times 10^exponent, rounded once: "15143.7" with -6 is the double nearest to 0.0151437.
// The exponent is appended to the text, because a product with 1e-6, which is not exact in binary,
// may differ in its last bit. A text that already has an exponent is multiplied and may be off by
// that bit.
[[nodiscard]] inline std::optional<double> parse_scaled(std::string_view text, int exponent) {
  const auto value = parse_real(text);
  if (!value || text.find_first_of("eE") != std::string_view::npos) {
    return value ? std::optional(*value * std::pow(10.0, exponent)) : value;
  }
  return parse_real(std::string(text) + "e" + std::to_string(exponent));
}

} // namespace stepsim::io
