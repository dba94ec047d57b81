#include "base/statistics.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace stepsim::base {

namespace {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The 97.5 % quantile of Student's t for more than 30 degrees of freedom, by its expansion around
// that of the normal distribution in powers of 1 / n; error below 1e-5.
double wide_quantile(double n) {
  constexpr double z = 1.959964;
  constexpr double z2 = z * z;
  const double first = z * (z2 + 1) / 4;
  const double second = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  return z + (first + (second + third / n) / n) / n;
}

// A run of pooled neighbours.
struct Block {
  double sum{};
  std::size_t count{};
  [[nodiscard]] double value() const { return sum / static_cast<double>(count); }
};

double relative_change(double before, double after) {
  if (before == after) {
    return 0.0;
  }
  return before == 0.0 ? std::numeric_limits<double>::infinity()
                       : std::abs(after - before) / std::abs(before);
}

} // namespace

double student_t_975(std::size_t freedom) {
  assert(freedom >= 1 && "one value has no spread");
  // For 1 to 30 degrees of freedom.
  static constexpr std::array kQuantiles{
      12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004,
      2.262157,  2.228139, 2.200985, 2.178813, 2.160369, 2.144787, 2.131450, 2.119905,
      2.109816,  2.100922, 2.093024, 2.085963, 2.079614, 2.073873, 2.068658, 2.063899,
      2.059539,  2.055529, 2.051831, 2.048407, 2.045230, 2.042272};
  return freedom <= kQuantiles.size() ? kQuantiles[freedom - 1]
                                      : wide_quantile(static_cast<double>(freedom));
}

Interval mean_interval_95(std::span<const double> values) {
  assert(values.size() >= 2 && "one value has no spread");
  const std::size_t freedom = values.size() - 1;
  const auto n = static_cast<double>(freedom);
  const double t = student_t_975(freedom);
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) {
    squares += (value - middle) * (value - middle);
  }
  const double half = t * std::sqrt(squares / n / static_cast<double>(values.size()));
  return {middle - half, middle + half};
}

double median(std::span<const double> values) {
  assert(!values.empty() && "the median of nothing is undefined");
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  if (sorted.size() % 2 == 1) {
    return *middle;
  }
  const double below = *std::max_element(sorted.begin(), middle);
  return below + (*middle - below) / 2;
}

LineFit fit_line(std::span<const double> x, std::span<const double> y) {
  assert(x.size() == y.size() && "one y for each x");
  assert(x.size() >= 2 && "a line needs two points");
  const double mean_x = mean(x);
  const double mean_y = mean(y);
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  assert(xx > 0 && "a line needs two different x");
  LineFit fit;
  fit.slope = xy / xx;
  fit.intercept = mean_y - fit.slope * mean_x;
  double residual = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = y[i] - (fit.intercept + fit.slope * x[i]);
    residual += error * error;
  }
  fit.r_squared = yy > 0 ? 1 - residual / yy : 1.0;
  return fit;
}

IsotonicFit isotonic_fit(std::span<const double> values) {
  std::vector<Block> blocks;
  for (const double value : values) {
    Block block{value, 1};
    while (!blocks.empty() && blocks.back().value() > block.value()) {
      block.sum += blocks.back().sum;
      block.count += blocks.back().count;
      blocks.pop_back();
    }
    blocks.push_back(block);
  }
  IsotonicFit fit;
  fit.values.reserve(values.size());
  for (const Block& block : blocks) {
    fit.values.insert(fit.values.end(), block.count, block.value());
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (fit.values[i] != values[i]) {
      ++fit.points_changed;
      fit.largest_change = std::max(fit.largest_change, relative_change(values[i], fit.values[i]));
    }
  }
  return fit;
}

} // namespace stepsim::base
