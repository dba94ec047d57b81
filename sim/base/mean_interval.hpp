#pragma once
// Intervals of means and fits, by Student's t.
#include <cstddef>
#include <span>

namespace stepsim::base {

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
