#include "base/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace stepsim::base {

namespace {

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

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
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

double quantile(std::span<const double> ascending, double share) {
  assert(!ascending.empty() && "a quantile of nothing is undefined");
  const double place = share * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  const double part = place - static_cast<double>(below);
  return ascending[below] + part * (ascending[above] - ascending[below]);
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
