// Decimal digits are counted as text: 1700000000123456.789 microseconds have more digits than a
// double keeps.
#include "import/kineto/kineto_time.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "scenario/files/import_number.hpp"

namespace stepsim::io {

namespace {

// value * 10 + digit, or empty beyond 2^63 - 1.
std::optional<Nanoseconds> append_digit(Nanoseconds value, int digit) {
  if (value > (std::numeric_limits<Nanoseconds>::max() - digit) / 10) {
    return std::nullopt;
  }
  return value * 10 + digit;
}

} // namespace

std::optional<Nanoseconds> nanoseconds_from_microseconds(std::string_view literal) {
  const std::size_t e = literal.find_first_of("eE");
  const std::string_view mantissa = literal.substr(0, e);
  int exponent = 3; // microseconds to nanoseconds
  if (e != std::string_view::npos) {
    std::string_view digits = literal.substr(e + 1);
    if (!digits.empty() && digits.front() == '+') {
      digits.remove_prefix(1);
    }
    int written = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), written);
    if (error != std::errc() || end != digits.data() + digits.size() || written > 1000 ||
        written < -1000) {
      return std::nullopt;
    }
    exponent += written;
  }
  const std::size_t point = mantissa.find('.');
  const std::string_view whole = mantissa.substr(0, point);
  const std::string_view fraction =
      point == std::string_view::npos ? std::string_view() : mantissa.substr(point + 1);
  if (whole.empty() && fraction.empty()) {
    return std::nullopt;
  }
  // Digits before the nanosecond point are kept, the first one behind it rounds.
  const auto kept = static_cast<std::ptrdiff_t>(whole.size()) + exponent;
  const auto digits = static_cast<std::ptrdiff_t>(whole.size() + fraction.size());
  Nanoseconds value = 0;
  for (std::ptrdiff_t i = 0; i < digits || i < kept; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const char c = i >= digits ? '0' : at < whole.size() ? whole[at] : fraction[at - whole.size()];
    if (!is_digit(c)) {
      return std::nullopt;
    }
    const bool rounds = i == kept && c >= '5';
    if (i < kept || rounds) {
      const auto next = rounds && value < std::numeric_limits<Nanoseconds>::max()
                            ? std::optional(value + 1)
                            : append_digit(value, c - '0');
      if (!next) {
        return std::nullopt;
      }
      value = *next;
    }
  }
  return value;
}

Nanoseconds median_time(std::vector<Nanoseconds> times) {
  std::ranges::sort(times);
  const std::size_t n = times.size();
  return n % 2 == 1 ? times[n / 2] : times[n / 2 - 1] + (times[n / 2] - times[n / 2 - 1]) / 2;
}

} // namespace stepsim::io
