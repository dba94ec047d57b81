#pragma once
// How close two numbers must be, said as it is meant:
//     CHECK(seconds == within(2e-6, 1e-9));      |seconds - 2e-6| <= 1e-9 * 2e-6, relative alone
//     CHECK(percent == plus_minus(3.5, 0.05));   |percent - 3.5| <= 0.05, absolute alone
// A number equals itself whatever the tolerance, so 0 is within any part of 0, infinity of
// infinity. NaN equals nothing. doctest's Approx allows epsilon * (1 + |value|): times of
// microseconds within "1e-9" are then any times below a nanosecond more, which is why only this
// header tells how numbers are compared.
#include <doctest/doctest.h>

#include <cassert>
#include <cmath>
#include <sstream>
#include <string>
#include <type_traits>

namespace stepsim::testing {

struct Tolerance {
  double expected{};
  double absolute{};           // the largest difference that passes, >= 0
  bool relative{};             // how it was said, for the message
  mutable double difference{}; // of the last comparison, for the message

  template <class Number>
  requires std::is_arithmetic_v<Number>
  friend bool operator==(Number found, const Tolerance& tolerance) {
    const auto value = static_cast<double>(found);
    tolerance.difference = value - tolerance.expected;
    return value == tolerance.expected || std::abs(tolerance.difference) <= tolerance.absolute;
  }

  // "2.5e-06 +- 1e-09 of it (found: + 3.1e-08 of it)"
  friend doctest::String toString(const Tolerance& tolerance) {
    const double unit = tolerance.relative ? std::abs(tolerance.expected) : 1;
    const char* of_it = tolerance.relative ? " of it" : "";
    std::ostringstream text;
    text.precision(12);
    text << tolerance.expected;
    text.precision(3);
    text << " +- " << tolerance.absolute / unit << of_it << " (found: " << std::showpos
         << tolerance.difference / unit << of_it << ")";
    return text.str().c_str();
  }
};

// Within a part of the expected value, 0 < part < 1, however small the value is.
template <class Number> [[nodiscard]] Tolerance within(Number expected, double part) {
  assert(part > 0 && part < 1);
  const auto value = static_cast<double>(expected);
  const double absolute = std::isinf(value) ? 0 : part * std::abs(value);
  return {.expected = value, .absolute = absolute, .relative = true};
}

// Within an absolute difference: for expected zeros, and for differences of large numbers.
template <class Number> [[nodiscard]] Tolerance plus_minus(Number expected, double absolute) {
  assert(absolute >= 0);
  return {.expected = static_cast<double>(expected), .absolute = absolute};
}

} // namespace stepsim::testing
