#pragma once
// The table of units of quantity.hpp. SI value = number x 10^exponent x factor. The power of ten is
// applied exactly, in decimal; the factor is an exact double (1/8, 60, a power of two).
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

// Returns the unit, or null if the kind has no such unit.
[[nodiscard]] const Unit* find_unit(std::string_view name, QuantityKind kind);
// Returns the few units that an error message names: "unit missing (s, ms, us, ns)".
[[nodiscard]] std::span<const std::string_view> common_units(QuantityKind kind);
// Returns the kind that has this unit: "time", "size", "rate", "speed of computing", "ratio" or
// "amount";
// empty if no kind has it.
[[nodiscard]] std::string_view kind_name_of_unit(std::string_view name);
// Returns the two meanings that a unit in the wrong case could have: "kB (1000 B) or KiB (1024 B)",
// "Gbps (bits) or GB/s (bytes)". Empty for other units.
[[nodiscard]] std::string two_readings(std::string_view name, QuantityKind kind);

} // namespace stepsim::base
