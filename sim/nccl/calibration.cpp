#include "nccl/calibration.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/cholesky.hpp"
#include "base/error.hpp"

namespace stepsim::nccl {

namespace {

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
