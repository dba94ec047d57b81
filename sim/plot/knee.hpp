#pragma once
// The knee of a throughput curve (REP 2): the largest N for which every doubling up to N gave at
// least 1.6 times the throughput. Doublings are looked up among the points: N and N/2 must both be
// there, the least x counts as the first.
#include <optional>
#include <span>

#include "plot/figure.hpp"

namespace stepsim::plot {

inline constexpr double kKneeGain = 1.6;

// `points` ascend in x, y is a throughput. The point of the knee; none where no doubling of the
// first x is among the points.
[[nodiscard]] std::optional<Point> knee(std::span<const Point> points);

} // namespace stepsim::plot
