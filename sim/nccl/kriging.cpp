#include "nccl/kriging.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "base/cholesky.hpp"

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

} // namespace stepsim::nccl
