// Steps are solutions of the normal equations with a damping added to the diagonal. The damping
// falls after a step that lowers the objective and rises after one that does not. Steps are
// therefore short while the parameters are far from the best ones, and Newton's when they are near.
#include "nccl/library_fit.hpp"

#include <cassert>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

#include "base/cholesky.hpp"
#include "nccl/library_record.hpp"

namespace stepsim::nccl {

namespace {

constexpr int kIterations = 25;
constexpr int kTries = 6;
constexpr double kFirstDamping = 0.01;
constexpr double kLongestStep = 0.5;
constexpr double kLeastGain = 1e-4; // of the objective
constexpr double kOnlyPrior = 0.8;

struct State {
  Parameters parameters{};
  std::vector<double> misfits;
  double data{};
  double objective{};
};

State state_at(const FitPoints& points, const Parameters& parameters) {
  State state;
  state.parameters = parameters;
  state.misfits = points.misfits(parameters);
  state.data = data_objective(state.misfits);
  state.objective = state.data + prior_objective(parameters);
  return state;
}

Parameters stepped(const Parameters& from, const NormalEquations& equations, double damping) {
  std::vector<double> matrix = equations.hessian;
  for (std::size_t i = 0; i < kParameterCount; ++i) {
    matrix[i * kParameterCount + i] += damping;
  }
  const auto factor = base::cholesky(std::move(matrix), kParameterCount);
  assert(factor && "priors make the normal equations positive definite");
  const std::vector<double> step = base::solve(*factor, equations.gradient);
  Parameters to = from;
  for (std::size_t i = 0; i < kParameterCount; ++i) {
    to[i] -= std::clamp(step[i], -kLongestStep, kLongestStep);
  }
  return to;
}

// The first state of a shorter and shorter step that lowers the objective.
std::optional<State> better_state(const FitPoints& points, const State& state, double& damping) {
  const NormalEquations equations = normal_equations(points, state.parameters, state.misfits);
  for (int attempt = 0; attempt < kTries; ++attempt) {
    State next = state_at(points, stepped(state.parameters, equations, damping));
    if (next.objective < state.objective) {
      damping /= 4;
      return next;
    }
    damping *= 5;
  }
  return std::nullopt;
}

struct Minimum {
  State state;
  int iterations{};
};

Minimum minimise(const FitPoints& points, const Parameters& start) {
  Minimum best{state_at(points, start), 0};
  double damping = kFirstDamping;
  while (best.iterations < kIterations) {
    std::optional<State> next = better_state(points, best.state, damping);
    if (!next) {
      break;
    }
    const bool enough = best.state.objective - next->objective < kLeastGain * best.state.objective;
    best.state = std::move(*next);
    ++best.iterations;
    if (enough) {
      break;
    }
  }
  return best;
}

// Plain numbers below 0 count as 0, and are written as 0.
Parameters as_counted(Parameters parameters) {
  for (std::size_t i = 0; i < kParameterCount; ++i) {
    if (parameter_rows()[i].plain) {
      parameters[i] = std::max(0.0, parameters[i]);
    }
  }
  return parameters;
}

void set_deviations(const FitPoints& points, const State& state, LibraryFit& fit) {
  const auto factor = base::cholesky(
      normal_equations(points, state.parameters, state.misfits).hessian, kParameterCount);
  assert(factor && "priors make the normal equations positive definite");
  const std::vector<double> covariance = base::inverse(*factor);
  for (std::size_t i = 0; i < kParameterCount; ++i) {
    fit.deviations[i] = std::sqrt(covariance[i * kParameterCount + i]);
    fit.from_prior[i] = fit.deviations[i] > kOnlyPrior * parameter_rows()[i].prior_sd;
  }
}

// Errors of a fit to `kept` on `left_out`.
void append_errors(const LibraryFit& whole, std::vector<MeasuredPoint> kept,
                   std::span<const MeasuredPoint> left_out, HeldOut& result) {
  const FittedLibrary& fitted = whole.fitted;
  const Calibration calibration =
      calibration_of(fit_library(fitted.node, std::move(kept), fitted.version).fitted);
  for (const MeasuredPoint& point : left_out) {
    const LibraryRecord record = predict({.operation = point.operation,
                                          .shape = point.shape,
                                          .bytes = point.bytes,
                                          .node = fitted.node,
                                          .calibration = &calibration});
    result.physical.push_back(record.physical_s / point.measured_s - 1);
    result.corrected.push_back(record.seconds / point.measured_s - 1);
  }
}

// Refits on every second size of each operation and shape and returns the errors on the other
// sizes; no errors if no operation and shape has two sizes.
HeldOut leave_sizes_out(const LibraryFit& fit) {
  HeldOut held{.shape = {0, 0}};
  std::vector<MeasuredPoint> kept;
  std::vector<MeasuredPoint> left_out;
  std::map<std::tuple<Operation, std::uint32_t, std::uint32_t>, int> seen;
  for (const MeasuredPoint& point : fit.fitted.points) {
    const int place = seen[{point.operation, point.shape.nodes, point.shape.gpus}]++;
    (place % 2 == 0 ? kept : left_out).push_back(point);
  }
  if (!left_out.empty()) {
    append_errors(fit, std::move(kept), left_out, held);
  }
  return held;
}

} // namespace

LibraryFit fit_library(const NodeType& node, std::vector<MeasuredPoint> points, Version version) {
  assert(!points.empty() && "a fit needs points");
  std::ranges::sort(points, before);
  LibraryFit best;
  const auto keep = [&](const FitPoints& data, const Minimum& minimum, Choice choice) {
    const State state = state_at(data, as_counted(minimum.state.parameters));
    best.fitted.choice = choice;
    best.fitted.parameters = state.parameters;
    best.data_objective = state.data;
    best.objective = state.objective;
    best.iterations = minimum.iterations;
    set_deviations(data, state, best);
  };
  const FitPoints published(node, points, Choice::published, {.version = version});
  const Minimum first = minimise(published, prior_means());
  keep(published, first, Choice::published);
  // The calibrated choice changes pairs while parameters move, so that its objective has kinks at
  // which a descent ends early. A second descent starts where the published choice ended.
  const FitPoints calibrated(node, points, Choice::calibrated, {.version = version});
  for (const Parameters& start : {prior_means(), first.state.parameters}) {
    const Minimum minimum = minimise(calibrated, start);
    if (minimum.state.data < best.data_objective) {
      keep(calibrated, minimum, Choice::calibrated);
    }
  }
  best.fitted.node = node;
  best.fitted.version = version;
  best.fitted.points = std::move(points);
  return best;
}

std::vector<HeldOut> leave_shapes_out(const LibraryFit& fit) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<MeasuredPoint>> by_shape;
  for (const MeasuredPoint& point : fit.fitted.points) {
    by_shape[{point.shape.nodes, point.shape.gpus}].push_back(point);
  }
  std::vector<HeldOut> result;
  if (by_shape.size() < 2) {
    return result;
  }
  for (const auto& [key, left_out] : by_shape) {
    HeldOut& held = result.emplace_back();
    held.shape = {key.first, key.second};
    std::vector<MeasuredPoint> kept;
    std::ranges::copy_if(fit.fitted.points, std::back_inserter(kept),
                         [&](const MeasuredPoint& point) { return point.shape != held.shape; });
    append_errors(fit, std::move(kept), left_out, held);
  }
  return result;
}

std::vector<double> left_out_errors(const LibraryFit& fit, const std::vector<HeldOut>& shapes) {
  std::vector<double> errors;
  for (const HeldOut& held : shapes) {
    errors.insert(errors.end(), held.physical.begin(), held.physical.end());
  }
  return errors.empty() ? leave_sizes_out(fit).physical : errors;
}

ErrorNumbers error_numbers(std::span<const double> errors) {
  assert(!errors.empty() && "no error, no numbers");
  std::vector<double> sizes;
  ErrorNumbers numbers{.points = errors.size()};
  for (const double error : errors) {
    sizes.push_back(std::abs(error));
    numbers.sign += error > 0 ? 1 : error < 0 ? -1 : 0;
  }
  numbers.sign /= static_cast<double>(errors.size());
  std::ranges::sort(sizes);
  numbers.median = base::quantile(sizes, 0.5);
  numbers.p90 = base::quantile(sizes, 0.9);
  numbers.largest = sizes.back();
  return numbers;
}

} // namespace stepsim::nccl
