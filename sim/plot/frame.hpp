#pragma once
// The position of a panel in the picture: the rectangle of its axes, and the mapping of its values
// to pixels. Data keep kInset pixels from the left, right and upper border, so that markers and
// thick lines remain inside.
#include "plot/ticks.hpp"

namespace stepsim::plot {

struct Frame {
  double left{}, top{}, right{}, bottom{}; // rectangle of the axes, px
  AxisRange x, y;

  static constexpr double kInset = 7;
  [[nodiscard]] double width() const { return right - left; }
  [[nodiscard]] double height() const { return bottom - top; }
  [[nodiscard]] double x_of(double value) const {
    return left + kInset + x.share(value) * (width() - 2 * kInset);
  }
  // The low end of the y axis lies on the lower border, even if it is not 0.
  [[nodiscard]] double y_of(double value) const {
    return bottom - y.share(value) * (height() - kInset);
  }
};

} // namespace stepsim::plot
