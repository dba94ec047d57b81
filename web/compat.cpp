// JavaScript prints the shortest decimal that reads back to the same double, and of several the one
// that is nearest to it: the digits of std::to_chars. The C library of emscripten reads and prints
// with correct rounding.
#include "compat.hpp"

#include <emscripten.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

// "d.ddde+XX": digits and exponent as JavaScript's toExponential gives them.
EM_JS(void, stepsim_shortest, (double value, char* out, int size),
      { stringToUTF8(value.toExponential(), out, size); });

std::to_chars_result put(char* first, char* last, const std::string& text) {
  if (last - first < static_cast<std::ptrdiff_t>(text.size())) {
    return {last, std::errc::value_too_large};
  }
  return {std::copy(text.begin(), text.end(), first), std::errc{}};
}

std::string printed(const char* format, int precision, double value) {
  std::array<char, 1200> buffer; // DBL_MAX with 800 decimals
  const int size = std::snprintf(buffer.data(), buffer.size(), format, precision, value);
  return {buffer.data(), static_cast<std::size_t>(size)};
}

// C++ writes at least two digits of an exponent: 1e-07.
std::string with_long_exponent(std::string text) {
  const std::size_t place = text.find('e') + 2;
  if (text.size() - place < 2) {
    text.insert(place, 1, '0');
  }
  return text;
}

} // namespace

namespace std {

to_chars_result to_chars(char* first, char* last, double value) {
  if (!isfinite(value)) {
    const string sign = signbit(value) ? "-" : "";
    return put(first, last, sign + (isnan(value) ? "nan" : "inf"));
  }
  if (value == 0) {
    return put(first, last, signbit(value) ? "-0" : "0");
  }
  array<char, 40> buffer;
  stepsim_shortest(value, buffer.data(), static_cast<int>(buffer.size()));
  const string text = buffer.data();
  const string scientific = with_long_exponent(text);
  const size_t e = text.find('e');
  const int exponent = atoi(text.c_str() + e + 1);
  const int digits = static_cast<int>(e) - (value < 0 ? 1 : 0) - (text.find('.') < e ? 1 : 0);
  // 1e22 is exact and has its digits; beyond 2^53 fixed notation prints all digits of the number.
  const string fixed = printed("%.*f", max(0, digits - 1 - exponent), value);
  return put(first, last, fixed.size() <= scientific.size() ? fixed : scientific);
}

to_chars_result to_chars(char* first, char* last, double value, chars_format format,
                         int precision) {
  return put(first, last,
             printed(format == chars_format::fixed        ? "%.*f"
                     : format == chars_format::scientific ? "%.*e"
                                                          : "%.*g",
                     precision, value));
}

// strtod reads more than from_chars does: spaces, a plus sign, hexadecimal digits. What it is given
// is the longest prefix of the grammar, with a zero behind it.
from_chars_result from_chars(const char* first, const char* last, double& value) {
  const auto digits = [last](const char* at) {
    return find_if(at, last, [](char c) { return c < '0' || c > '9'; });
  };
  const char* at = first != last && *first == '-' ? first + 1 : first;
  const char* end = digits(at);
  ptrdiff_t count = end - at;
  if (end != last && *end == '.') {
    const char* fraction = digits(end + 1);
    count += fraction - end - 1;
    end = fraction;
  }
  if (count == 0) {
    return {first, errc::invalid_argument};
  }
  if (end != last && (*end == 'e' || *end == 'E')) {
    const char* sign = end + 1;
    const char* begin = sign != last && (*sign == '-' || *sign == '+') ? sign + 1 : sign;
    const char* stop = digits(begin);
    end = stop == begin ? end : stop;
  }
  const double read = strtod(string(first, end).c_str(), nullptr);
  const bool tiny = read == 0 && any_of(at, end, [](char c) { return c >= '1' && c <= '9'; });
  if (isinf(read) || tiny) {
    return {end, errc::result_out_of_range};
  }
  value = read;
  return {end, errc{}};
}

} // namespace std
