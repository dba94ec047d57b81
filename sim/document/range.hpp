#pragma once
// The allowed values of a number in a file.
#include <limits>
#include <string>

namespace stepsim::io {

// An interval, closed unless a bound is marked as open. Contains no NaN.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open_low = false; // low itself is not allowed
  bool open_high = false;
  [[nodiscard]] bool contains(double value) const;
  // "must be >= 1", "must be in (0, 1]", "must be > 0"
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] constexpr Range at_least(double low) { return {.low = low}; }
[[nodiscard]] constexpr Range above(double low) { return {.low = low, .open_low = true}; }
[[nodiscard]] constexpr Range between(double low, double high) {
  return {.low = low, .high = high};
}
// (low, high]
[[nodiscard]] constexpr Range above_to(double low, double high) {
  return {.low = low, .high = high, .open_low = true};
}
// [low, high)
[[nodiscard]] constexpr Range below_from(double low, double high) {
  return {.low = low, .high = high, .open_high = true};
}

} // namespace stepsim::io
