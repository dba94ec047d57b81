#include "nccl/calibration.hpp"

#include <cassert>
#include <cmath>
#include <tuple>

#include "base/cholesky.hpp"
#include "base/error.hpp"

namespace stepsim::nccl {

namespace {

constexpr double kLengthBytes = 1.5; // octaves
constexpr double kLengthNodes = 1.5;
constexpr double kOneNodeDistance = 2;
constexpr double kSignal = 0.2 * 0.2;
constexpr double kNugget = 0.07 * 0.07;
constexpr double kOtherOperation = 0.6;
constexpr double kAllToAll = 0.1; // in the place of kOtherOperation
constexpr double kLargeMisfit = 0.105;
constexpr int kRounds = 3;

double squared(double value) { return value * value; }

double kernel(const KrigingPoint& a, const KrigingPoint& b) {
  const double distance = squared((a.log2_bytes - b.log2_bytes) / kLengthBytes) +
                          squared((a.log2_nodes - b.log2_nodes) / kLengthNodes) +
                          squared(a.log2_gpus - b.log2_gpus) +
                          ((a.log2_nodes == 0) != (b.log2_nodes == 0) ? kOneNodeDistance : 0);
  const double value = kSignal * std::exp(-distance / 2);
  if (a.operation == b.operation) {
    return value;
  }
  const bool messages = a.operation == Operation::alltoall || b.operation == Operation::alltoall;
  return value * (messages ? kAllToAll : kOtherOperation);
}

constexpr double kModelDeviation = 0.03;
constexpr double kNormalDeviation = 1.4826; // of a normal distribution over its median |value|
constexpr std::size_t kNeighbours = 3;

// d log T / d theta by steps, as in the fit. A plain parameter that counts as 0 below 0 is taken
// from the side on which it counts.
Parameters log_derivatives(const LibraryModel& model, const Layout& layout, Operation operation,
                           double bytes, Pair pair) {
  const auto log_seconds = [&](const Multipliers& multipliers) {
    return std::log(operation_time(layout, operation, bytes, pair, multipliers).seconds);
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

// phi times the inverse Hessian at the fitted parameters.
std::vector<double> posterior(const FitPoints& points, const Parameters& parameters) {
  const std::vector<double> misfits = points.misfits(parameters);
  const auto factor =
      base::cholesky(normal_equations(points, parameters, misfits).hessian, kParameterCount);
  assert(factor && "priors make the Hessian positive definite");
  const double freedom =
      std::max(1.0, static_cast<double>(points.size()) - static_cast<double>(kParameterCount));
  const double scatter = std::max(1.0, data_objective(misfits) / (0.5 * freedom));
  std::vector<double> covariance = base::inverse(*factor);
  for (double& value : covariance) {
    value *= scatter;
  }
  return covariance;
}

} // namespace

KrigingPoint KrigingPoint::of(Operation operation, Shape shape, double bytes) {
  return {.operation = operation,
          .log2_bytes = std::log2(std::max(bytes, 1.0)),
          .log2_nodes = std::log2(shape.nodes),
          .log2_gpus = std::log2(shape.gpus)};
}

double Kriging::log_correction(const KrigingPoint& at) const {
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    sum += weights[i] * kernel(at, points[i]);
  }
  return sum;
}

Kriging krige(std::vector<KrigingPoint> points, std::span<const double> residuals) {
  const std::size_t n = points.size();
  assert(residuals.size() == n && "one residual per point");
  std::vector<double> kernels(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      kernels[i * n + j] = kernel(points[i], points[j]);
    }
  }
  Kriging result{std::move(points), {}, std::vector<double>(n, kNugget)};
  const auto weigh = [&] {
    std::vector<double> matrix = kernels;
    for (std::size_t i = 0; i < n; ++i) {
      matrix[i * n + i] += result.variances[i];
    }
    const auto factor = base::cholesky(std::move(matrix), n);
    assert(factor && "a kernel with a nugget is positive definite");
    result.weights = base::solve(*factor, residuals);
  };
  weigh();
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < n; ++i) {
      const double misfit = std::abs(result.variances[i] * result.weights[i]);
      result.variances[i] = kNugget * squared(std::max(1.0, misfit / kLargeMisfit));
    }
    weigh();
  }
  return result;
}

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

bool before(const MeasuredPoint& a, const MeasuredPoint& b) {
  return std::tuple(a.operation, a.shape.nodes, a.shape.gpus, a.bytes, a.measured_s) <
         std::tuple(b.operation, b.shape.nodes, b.shape.gpus, b.bytes, b.measured_s);
}

Calibration calibration_of(FittedLibrary fitted) {
  if (fitted.points.empty()) {
    throw UsageError("a calibration needs measured points");
  }
  std::ranges::sort(fitted.points, before);
  const FitPoints points(fitted.node, fitted.points, fitted.choice, {.version = fitted.version});
  Calibration result;
  result.multipliers = multipliers_of(fitted.parameters);
  result.covariance = posterior(points, fitted.parameters);
  std::vector<KrigingPoint> places;
  std::vector<double> residuals;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const MeasuredPoint& point = fitted.points[i];
    places.push_back(KrigingPoint::of(point.operation, point.shape, point.bytes));
    residuals.push_back(std::log(point.measured_s / points.seconds(i, result.multipliers)));
  }
  result.kriging = krige(std::move(places), residuals);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double correction = result.kriging.log_correction(result.kriging.points[i]);
    result.misfits.push_back(std::abs(residuals[i] - correction));
  }
  const auto [smallest, largest] =
      std::ranges::minmax(fitted.points, {}, [](const MeasuredPoint& p) { return p.bytes; });
  result.smallest_bytes = smallest.bytes;
  result.largest_bytes = largest.bytes;
  result.fitted = std::move(fitted);
  return result;
}

} // namespace stepsim::nccl
