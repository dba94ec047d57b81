#pragma once
// Numbers in logs and tables: the whole text must be one plain decimal number, independent of the
// locale, without blanks or thousands separators.
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stepsim::io {

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

} // namespace stepsim::io
