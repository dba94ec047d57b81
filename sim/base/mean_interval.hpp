#pragma once
// 95 % intervals of means and fits, by Student's t.
#include <cstddef>
#include <span>

namespace stepsim::base {

struct Interval {
  double low{}, high{};
};
// Returns the 97.5 % quantile of Student's t: 12.706 for 1 degree of freedom, 2.306 for 8. Needs at
// least one degree of freedom (asserted).
[[nodiscard]] double student_t_975(std::size_t freedom);
// Returns the 95 % interval of the mean of independent values. Needs at least two values
// (asserted).
[[nodiscard]] Interval mean_interval_95(std::span<const double> values);

} // namespace stepsim::base
