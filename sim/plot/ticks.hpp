#pragma once
// The range of an axis, where its ticks stand and what is written at them.
//   linear  steps of 1, 2 or 5 times a power of ten
//   log10   1, 2, 5 times powers of ten, or the powers alone where many decades are shown
//   log2    powers of two
// A tick that the figure gives is always drawn; labels that would touch are left out.
#include <string>
#include <vector>

#include "plot/figure.hpp"

namespace stepsim::plot {

struct AxisRange {
  Scale scale = Scale::linear;
  double low = 0, high = 1; // low < high; low > 0 unless linear

  // 0 at low, 1 at high.
  [[nodiscard]] double share(double value) const;
  // A linear axis that does not begin at 0 says so with a break mark.
  [[nodiscard]] bool broken() const { return scale == Scale::linear && low != 0; }
};

// The range for data between `least` and `greatest`. Ticks that the figure gives, or chosen ones if
// `rounded`, enclose the data.
[[nodiscard]] AxisRange axis_range(const Axis& axis, double least, double greatest, bool rounded);

// Ascending, inside the range; `most` is how many have room.
[[nodiscard]] std::vector<double> axis_ticks(const Axis& axis, const AxisRange& range, double most);

// "12,000", "64 KiB" for bytes, "2M" where the greatest tick is a million or more.
[[nodiscard]] std::string tick_text(const Axis& axis, double value, double greatest);

} // namespace stepsim::plot
