#pragma once
// The table of units behind quantity.hpp: SI value = number x 10^exponent x factor, the first part
// exact in decimal, the factor an exact double (1/8, 60, a power of two).
#include <span>
#include <string>
#include <string_view>

#include "base/quantity.hpp"

namespace stepsim::base {

struct Unit {
  std::string_view name;
  QuantityKind kind;
  int exponent;
  double factor;
};

// Null if the kind has no such unit.
[[nodiscard]] const Unit* find_unit(std::string_view name, QuantityKind kind);
// The few units named in "unit missing (s, ms, us, ns)".
[[nodiscard]] std::span<const std::string_view> common_units(QuantityKind kind);
// "time", "size", "rate", "speed of computing" or "ratio": the kind that does have the unit, or "".
[[nodiscard]] std::string_view kind_name_of_unit(std::string_view name);
// For a unit in the wrong case that could mean two: "kB (1000 B) or KiB (1024 B)",
// "Gbps (bits) or GB/s (bytes)"; else "".
[[nodiscard]] std::string two_readings(std::string_view name, QuantityKind kind);

} // namespace stepsim::base
