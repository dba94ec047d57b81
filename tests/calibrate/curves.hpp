#pragma once
// Times on a line, at sizes 2^first, 2^(first + step) .. 2^last.
#include <vector>

#include "calibrate/core/line_fit.hpp"

namespace stepsim::calibrate {

inline std::vector<Datum> powers(int first, int last, int step, double startup, double per_byte) {
  std::vector<Datum> data;
  for (int i = first; i <= last; i += step) {
    const auto bytes = static_cast<double>(1LL << i);
    data.push_back({bytes, startup + per_byte * bytes});
  }
  return data;
}

} // namespace stepsim::calibrate
