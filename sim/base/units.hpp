#pragma once
// Strong types for the four quantities of the simulator, in SI units: seconds, bytes, bytes per
// second, floating-point operations per second. One GB is 1e9 bytes, one GiB is 2^30 bytes.
// Arithmetic keeps the unit (sum, difference, scaling by a number, ratio of two equal units);
// numeric kernels use `.value` for everything else.
#include <compare>
#include <cstdint>
#include <limits>

namespace stepsim::base {

template <class Tag, class Number> struct Quantity {
  Number value{};

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity operator+(Quantity other) const { return {value + other.value}; }
  constexpr Quantity operator-(Quantity other) const { return {value - other.value}; }
  constexpr Quantity& operator+=(Quantity other) { return value += other.value, *this; }
  constexpr Quantity& operator-=(Quantity other) { return value -= other.value, *this; }
  constexpr Quantity operator*(Number factor) const { return {value * factor}; }
  constexpr Quantity operator/(Number divisor) const { return {value / divisor}; }
  constexpr double operator/(Quantity other) const {
    return static_cast<double>(value) / static_cast<double>(other.value);
  }
};

using Seconds = Quantity<struct SecondsTag, double>;
using Bytes = Quantity<struct BytesTag, std::int64_t>; // whole bytes, >= 0
using BytesPerSecond = Quantity<struct BytesPerSecondTag, double>;
using Flops = Quantity<struct FlopsTag, double>; // floating-point operations per second

// Largest byte count that a double holds exactly; readers of sizes refuse larger values.
inline constexpr std::int64_t kMaxExactBytes = std::int64_t{1} << 53;

// The time of what never comes, s.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

} // namespace stepsim::base

namespace stepsim {
using base::Bytes;
using base::BytesPerSecond;
using base::Flops;
using base::kNever;
using base::Seconds;
} // namespace stepsim
