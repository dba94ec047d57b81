#include "nccl/prediction_interval.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/statistics.hpp"

namespace stepsim::nccl {

namespace {

constexpr double kModelDeviation = 0.03;
constexpr double kNormalDeviation = 1.4826; // of a normal distribution over its median |value|
constexpr std::size_t kNeighbours = 3;

// d log T / d theta by steps, as in the fit. A plain parameter that counts as 0 below 0 is taken
// from the side on which it counts.
Parameters log_derivatives(const LibraryModel& model, const Layout& layout, Operation operation,
                           double bytes, Pair pair) {
  const auto log_seconds = [&](const Multipliers& multipliers) {
    return std::log(
        operation_time(layout, operation, bytes, pair, multipliers, model.collnet).seconds);
  };
  const double here = log_seconds(model.multipliers);
  const double step = std::exp(kDerivativeStep);
  Parameters slopes{};
  for (std::size_t i = 0; i < kParameterCount; ++i) {
    Multipliers moved = model.multipliers;
    moved.value[i] =
        parameter_rows()[i].plain ? moved.value[i] + kDerivativeStep : moved.value[i] * step;
    slopes[i] = (log_seconds(moved) - here) / kDerivativeStep;
  }
  return slopes;
}

double prior_variance(const Parameters& slopes) {
  double sum = 0;
  for (std::size_t i = 0; i < kParameterCount; ++i) {
    const double part = slopes[i] * parameter_rows()[i].prior_sd;
    sum += part * part;
  }
  return sum;
}

double posterior_variance(const Parameters& slopes, std::span<const double> covariance) {
  double sum = 0;
  for (std::size_t i = 0; i < kParameterCount; ++i) {
    for (std::size_t j = 0; j < kParameterCount; ++j) {
      sum += slopes[i] * covariance[i * kParameterCount + j] * slopes[j];
    }
  }
  return sum;
}

// The largest misfit among the training points of the shape that are nearest in size, 0 if it was
// not measured.
double nearby_misfit(const Calibration& calibration, Shape shape, double bytes) {
  std::vector<std::pair<double, double>> near; // distance in octaves, misfit
  for (std::size_t i = 0; i < calibration.fitted.points.size(); ++i) {
    const MeasuredPoint& point = calibration.fitted.points[i];
    if (point.shape == shape) {
      near.emplace_back(std::abs(std::log2(bytes / point.bytes)), calibration.misfits[i]);
    }
  }
  const auto end = near.begin() + std::ssize(near) -
                   (near.size() > kNeighbours ? std::ssize(near) - std::ptrdiff_t{kNeighbours} : 0);
  std::partial_sort(near.begin(), end, near.end());
  double largest = 0;
  for (auto each = near.begin(); each != end; ++each) {
    largest = std::max(largest, each->second);
  }
  return largest;
}

} // namespace

double log_deviation(const LibraryModel& model, const Calibration* calibration,
                     const Layout& layout, Operation operation, Shape shape, double bytes,
                     Pair pair) {
  const Parameters slopes = log_derivatives(model, layout, operation, bytes, pair);
  double variance = kModelDeviation * kModelDeviation;
  if (calibration == nullptr) {
    const double unknown = bytes < kSmallMessage ? std::log(2.0) : 0;
    variance += prior_variance(slopes) + unknown * unknown;
  } else {
    const double typical = kNormalDeviation * base::median(calibration->misfits);
    const double nearby = nearby_misfit(*calibration, shape, bytes);
    variance +=
        posterior_variance(slopes, calibration->covariance) + typical * typical + nearby * nearby;
  }
  return std::sqrt(variance);
}

base::Interval interval_95(double seconds, double deviation) {
  return {.low = seconds * std::exp(-kQuantile95 * deviation),
          .high = seconds * std::exp(kQuantile95 * deviation)};
}

} // namespace stepsim::nccl
