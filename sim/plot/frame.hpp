#pragma once
// Where a panel stands in the picture: the rectangle of its axes and what its values become in
// pixels. Data keep a little distance from the left, right and upper border, so that markers and
// thick lines stay inside.
#include "plot/ticks.hpp"

namespace stepsim::plot {

struct Frame {
  double left{}, top{}, right{}, bottom{}; // of the axes, px
  AxisRange x, y;

  static constexpr double kInset = 7;
  [[nodiscard]] double width() const { return right - left; }
  [[nodiscard]] double height() const { return bottom - top; }
  [[nodiscard]] double x_of(double value) const {
    return left + kInset + x.share(value) * (width() - 2 * kInset);
  }
  // The lower border is the low end of y, whether or not it is 0.
  [[nodiscard]] double y_of(double value) const {
    return bottom - y.share(value) * (height() - kInset);
  }
};

} // namespace stepsim::plot
