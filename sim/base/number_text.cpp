// std::to_chars is independent of the locale and gives the shortest decimal that reads back to the
// same double; printf and streams do neither.
#include "base/quantity.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace stepsim::base {

void append_shortest(std::string& out, double value) {
  assert(std::isfinite(value) && "only finite numbers have a text");
  std::array<char, 32> buffer; // the longest shortest form has 24 characters
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out.append(buffer.data(), result.ptr);
}

void append_integer(std::string& out, std::int64_t value) {
  std::array<char, 24> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out.append(buffer.data(), result.ptr);
}

std::string shortest(double value) {
  std::string text;
  append_shortest(text, value);
  return text;
}

std::string significant(double value, int digits) {
  assert(digits >= 1 && digits <= 17 && "1 to 17 digits");
  if (value == 0.0) {
    return "0";
  }
  if (!std::isfinite(value)) { // to_chars writes no exponent for them
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }
  std::array<char, 64> buffer;
  char* const end = buffer.data() + buffer.size();
  // The exponent after rounding: 9.9999 with 4 digits is 1.000e+01.
  auto result = std::to_chars(buffer.data(), end, value, std::chars_format::scientific, digits - 1);
  std::string scientific(buffer.data(), result.ptr);
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  if (exponent < -4 || exponent >= 9) {
    return scientific;
  }
  const int decimals = std::max(0, digits - 1 - exponent);
  result = std::to_chars(buffer.data(), end, value, std::chars_format::fixed, decimals);
  return {buffer.data(), result.ptr};
}

// By way of text, which rounds decimal digits exactly.
double rounded_to(double value, int digits) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.begin(), text.end(), value, std::chars_format::scientific, digits - 1);
  (void)std::from_chars(text.begin(), end.ptr, value);
  return value;
}

std::string counted(std::int64_t count, std::string_view noun, std::string_view plural) {
  return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : plural);
}

std::string percent_number(double ratio, int digits) {
  constexpr double kRounding = 1e-12;
  return significant(std::abs(ratio) < kRounding ? 0 : 100 * ratio, digits);
}

std::string percent(double ratio, int digits) { return percent_number(ratio, digits) + " %"; }

} // namespace stepsim::base
