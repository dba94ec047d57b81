#pragma once
// Small statistics on spans of numbers. No function changes its input.
#include <cstddef>
#include <span>
#include <vector>

namespace stepsim::base {

// Needs at least one value.
[[nodiscard]] double mean(std::span<const double> values);

// Median of values in any order: the middle value, or the mean of the middle two for an even count.
// Needs at least one value (asserted).
[[nodiscard]] double median(std::span<const double> values);

// The quantile `share` (0 to 1; 0.5 is the median) of n values in ascending order, interpolated
// linearly at position share * (n - 1). Needs at least one value (asserted).
[[nodiscard]] double quantile(std::span<const double> ascending, double share);

struct LineFit { // y = intercept + slope x
  double intercept{};
  double slope{};
  double r_squared{}; // 1 if all y are equal
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

// Intervals of means and fits, by Student's t.

struct Interval {
  double low{}, high{};
};
// Returns the quantile of Student's t: for 0.975 12.706 with 1 degree of freedom, 2.306 with 8.
// Needs at least one degree of freedom (asserted).
[[nodiscard]] double student_t(double probability, std::size_t freedom);
// Returns the interval that holds the mean of independent values with the probability `level`.
// Needs at least two values (asserted).
[[nodiscard]] Interval mean_interval(std::span<const double> values, double level);

} // namespace stepsim::base
