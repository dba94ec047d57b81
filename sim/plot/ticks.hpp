#pragma once
// The range of an axis, and the positions and labels of its ticks. Ticks are:
//   linear  multiples of 1, 2 or 5 times a power of ten
//   log10   1, 2 and 5 times powers of ten; powers of ten only if there are many decades
//   log2    powers of two
// A tick that the figure gives is always drawn; labels that would touch are left out.

#include "plot/figure.hpp"

namespace stepsim::plot {

struct AxisRange {
  Scale scale = Scale::linear;
  double low = 0, high = 1; // low < high; low > 0 unless linear

  // The position of `value` on the axis: 0 at `low`, 1 at `high`.
  [[nodiscard]] double share(double value) const;
  // Whether the axis gets a break mark: true for a linear axis that does not begin at 0.
  [[nodiscard]] bool broken() const { return scale == Scale::linear && low != 0; }
};

// Returns the range of the axis, which includes the data, from `least` to `greatest`, Axis::low and
// high, and all ticks that the figure gives. A linear axis begins at 0 if it would begin above 0
// and below a third of its end. If the figure gives no ticks, both ends of a log2 axis and, with
// `rounded`, of any axis are moved outwards to tick positions.
[[nodiscard]] AxisRange axis_range(const Axis& axis, double least, double greatest, bool rounded);

// Returns the ticks that the figure gives or, if it gives none, ticks chosen inside the range, in
// ascending order. `most` is the number of ticks for which there is room.
[[nodiscard]] std::vector<double> axis_ticks(const Axis& axis, const AxisRange& range, double most);

// The label of a tick: "12,000", "64 KiB" for bytes, "2M" if the greatest tick is at least 1e6.
[[nodiscard]] std::string tick_text(const Axis& axis, double value, double greatest);

} // namespace stepsim::plot
