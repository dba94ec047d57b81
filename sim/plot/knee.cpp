#include "plot/figure.hpp"

#include <cmath>

namespace stepsim::plot {

std::optional<Point> knee(std::span<const Point> points) {
  const auto find = [&](double x) {
    return std::ranges::find_if(
        points, [&](const Point& point) { return std::abs(point.x - x) <= 1e-9 * std::abs(x); });
  };
  if (points.empty() || find(2 * points.front().x) == points.end()) {
    return std::nullopt;
  }
  Point last = points.front();
  for (;;) {
    const auto next = find(2 * last.x);
    if (next == points.end() || !(next->y >= kKneeGain * last.y)) {
      return last;
    }
    last = *next;
  }
}

} // namespace stepsim::plot
