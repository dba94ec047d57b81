#pragma once
// Slowdowns of computing next to an exchange that come with the program (TRN 3.3): by the device
// and the library that moves the data, each with how it was found.
#include <span>
#include <string_view>
#include <vector>

namespace stepsim::study {

struct OverlapRow {
  std::string_view name;   // DEVICE/LIBRARY
  double compute{};        // slowdown, >= 1
  std::string_view label;  // derived or measured
  std::string_view source; // what it was derived from, in words
};

[[nodiscard]] std::span<const OverlapRow> overlap_rows();
[[nodiscard]] std::vector<std::string_view> overlap_names();

} // namespace stepsim::study
