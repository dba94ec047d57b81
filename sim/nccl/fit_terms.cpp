#include "nccl/fit_terms.hpp"

#include <cmath>

namespace stepsim::nccl {

namespace {

constexpr double kScale = 0.08;
constexpr double kHuber = 1.5;

} // namespace

FitPoints::FitPoints(const NodeType& node, std::span<const MeasuredPoint> points, Choice choice,
                     const Restrictions& restrictions) {
  model_.choice = Choice::published;
  model_.restrictions = restrictions;
  for (const MeasuredPoint& point : points) {
    Entry& entry = entries_.emplace_back();
    entry.layout = layout_of(node, point.shape);
    entry.operation = point.operation;
    entry.bytes = point.bytes;
    entry.measured_s = point.measured_s;
    entry.published = choose_pair(model_, entry.layout, point.operation, point.bytes).chosen;
  }
  model_.choice = choice;
}

double FitPoints::seconds(std::size_t i, const Multipliers& multipliers) const {
  const Entry& entry = entries_[i];
  if (model_.choice == Choice::published) {
    return operation_time(entry.layout, entry.operation, entry.bytes, entry.published, multipliers)
        .seconds;
  }
  double least = 0;
  bool first = true;
  const Candidates all = candidates(entry.layout, entry.operation, model_.restrictions);
  for (const Pair& pair : all.all()) {
    const double seconds =
        operation_time(entry.layout, entry.operation, entry.bytes, pair, multipliers).seconds;
    least = first ? seconds : std::min(least, seconds);
    first = false;
  }
  return least;
}

std::vector<double> FitPoints::misfits(const Parameters& parameters) const {
  const Multipliers multipliers = multipliers_of(parameters);
  std::vector<double> result(size());
  for (std::size_t i = 0; i < size(); ++i) {
    result[i] = std::log(seconds(i, multipliers) / measured_s(i)) / kScale;
  }
  return result;
}

double data_objective(std::span<const double> misfits) {
  double sum = 0;
  for (const double z : misfits) {
    const double size = std::abs(z);
    sum += size < kHuber ? z * z / 2 : kHuber * (size - kHuber / 2);
  }
  return sum;
}

double prior_objective(const Parameters& parameters) {
  double sum = 0;
  for (std::size_t i = 0; i < kParameterCount; ++i) {
    const ParameterRow& row = parameter_rows()[i];
    const double distance = (parameters[i] - row.prior_mean) / row.prior_sd;
    sum += distance * distance / 2;
  }
  return sum;
}

NormalEquations normal_equations(const FitPoints& points, const Parameters& parameters,
                                 std::span<const double> misfits) {
  std::vector<std::vector<double>> columns; // dz/dtheta, by parameter
  for (std::size_t j = 0; j < kParameterCount; ++j) {
    Parameters moved = parameters;
    moved[j] += kDerivativeStep;
    columns.push_back(points.misfits(moved));
    for (std::size_t i = 0; i < points.size(); ++i) {
      columns.back()[i] = (columns.back()[i] - misfits[i]) / kDerivativeStep;
    }
  }
  NormalEquations result;
  result.hessian.assign(kParameterCount * kParameterCount, 0);
  for (std::size_t j = 0; j < kParameterCount; ++j) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double weight = std::min(1.0, kHuber / std::max(std::abs(misfits[i]), kHuber));
      const double weighted = weight * columns[j][i];
      result.gradient[j] += weighted * misfits[i];
      for (std::size_t k = 0; k <= j; ++k) {
        result.hessian[j * kParameterCount + k] += weighted * columns[k][i];
      }
    }
    const ParameterRow& row = parameter_rows()[j];
    const double precision = 1 / (row.prior_sd * row.prior_sd);
    result.gradient[j] += (parameters[j] - row.prior_mean) * precision;
    result.hessian[j * kParameterCount + j] += precision;
    for (std::size_t k = 0; k < j; ++k) {
      result.hessian[k * kParameterCount + j] = result.hessian[j * kParameterCount + k];
    }
  }
  return result;
}

} // namespace stepsim::nccl
