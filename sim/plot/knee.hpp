#pragma once
// The knee of a throughput curve (REP 2): the largest N such that each doubling from the least x up
// to N raised the throughput by a factor of at least 1.6. Both ends of a doubling, N/2 and N, must
// be among the points.

#include "plot/figure.hpp"

namespace stepsim::plot {

inline constexpr double kKneeGain = 1.6;

// Returns the point of the knee, which is the first point if the first doubling gained less than
// kKneeGain. `points` must ascend in x; y is the throughput. Empty if no point has twice the first
// x.
[[nodiscard]] std::optional<Point> knee(std::span<const Point> points);

} // namespace stepsim::plot
