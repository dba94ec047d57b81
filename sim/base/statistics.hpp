#pragma once
// Small statistics on spans of numbers. No function changes its input: what must be sorted is
// copied.
#include <cstddef>
#include <span>
#include <vector>

namespace stepsim::base {

// Middle value, mean of the middle two for an even count. Needs at least one value (asserted).
// Takes values in any order.
[[nodiscard]] double median(std::span<const double> values);

struct Interval {
  double low{}, high{};
};
// The 97.5 % quantile of Student's t: 12.706 for 1 degree of freedom, 2.306 for 8; error below
// 1e-5. Needs one degree (asserted).
[[nodiscard]] double student_t_975(std::size_t freedom);
// 95 % interval of the mean of independent values, by Student's t. Needs two values (asserted).
[[nodiscard]] Interval mean_interval_95(std::span<const double> values);

struct LineFit { // y = intercept + slope x
  double intercept{};
  double slope{};
  double r_squared{};
};
// Ordinary least squares; needs two different x (asserted).
[[nodiscard]] LineFit fit_line(std::span<const double> x, std::span<const double> y);

struct IsotonicFit {
  std::vector<double> values;   // non-decreasing
  std::size_t points_changed{}; // values that differ from the input
  double largest_change{};      // largest |new - old| / |old|; infinite if 0 was changed
};
// Pool adjacent violators with equal weights: the non-decreasing sequence nearest in least squares.
[[nodiscard]] IsotonicFit isotonic_fit(std::span<const double> values);

} // namespace stepsim::base
