#pragma once
// Shipped slowdowns of compute next to an exchange (TRN 3.3), by the device and the library that
// moves the data, with the source of each value.
#include <span>
#include <string_view>
#include <vector>

namespace stepsim::study {

struct OverlapRow {
  std::string_view name;   // DEVICE/LIBRARY
  double compute{};        // factor on compute times during an exchange, >= 1
  std::string_view label;  // "derived" or "measured"
  std::string_view source; // what it was derived from
};

[[nodiscard]] std::span<const OverlapRow> overlap_rows();
[[nodiscard]] std::vector<std::string_view> overlap_names();

} // namespace stepsim::study
