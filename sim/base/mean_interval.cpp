#include "base/collected.hpp"
#include "base/statistics.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

namespace stepsim::base {

double student_t(double probability, std::size_t freedom) {
  assert(freedom >= 1 && "one value has no spread");
  // A sweep asks for the same one at every point.
  thread_local std::pair<double, std::size_t> known;
  thread_local double value = 0;
  if (known != std::pair(probability, freedom)) {
    known = {probability, freedom};
    const boost::math::students_t distribution(static_cast<double>(freedom));
    value = boost::math::quantile(distribution, probability);
  }
  return value;
}

Interval mean_interval(std::span<const double> values, double level) {
  assert(values.size() >= 2 && "one value has no spread");
  const auto count = static_cast<double>(values.size());
  const double middle = std::accumulate(values.begin(), values.end(), 0.0) / count;
  const double squares = base::sum_of<double>(
      values, [&](double value) { return (value - middle) * (value - middle); });
  const double half =
      student_t((1 + level) / 2, values.size() - 1) * std::sqrt(squares / (count - 1) / count);
  return {middle - half, middle + half};
}

} // namespace stepsim::base
