#include "program/explain/sensitivity.hpp"

#include <algorithm>
#include <cstddef>

namespace stepsim::program {
namespace {

constexpr double kRelativeStep = 1e-6;

bool has_slope(const Parameter& parameter) {
  const auto positive = [](double slope) { return slope > 0; };
  return std::ranges::any_of(parameter.startup_slope, positive) ||
         std::ranges::any_of(parameter.slope, positive);
}

Parameter without_slopes(const Program& program, std::string name, double value) {
  const std::vector<double> none(program.operations.size(), 0);
  return {.name = std::move(name), .value = value, .startup_slope = none, .slope = none};
}

// The program with the parameter larger by `step`; durations stay >= 0.
Program moved(Program program, const Parameter& parameter, double step) {
  for (std::size_t o = 0; o < program.operations.size(); ++o) {
    Operation& operation = program.operations[o];
    const auto move = [&](Seconds& time, double slope) {
      time = {std::max(0.0, time.value + step * slope)};
    };
    if (operation.type == OperationType::exchange) {
      move(operation.startup, parameter.startup_slope[o]);
      move(operation.data, parameter.slope[o]);
    } else {
      move(operation.seconds, parameter.slope[o]);
    }
  }
  return program;
}

} // namespace

std::vector<Parameter> parameters_of(const Program& program, const LinkConstants& links) {
  Parameter latency = without_slopes(program, "latency_s", links.latency_s);
  Parameter per_byte = without_slopes(program, "seconds_per_byte", links.seconds_per_byte);
  Parameter compute = without_slopes(program, "compute_factor", 1);
  for (std::size_t o = 0; o < program.operations.size(); ++o) {
    const Operation& operation = program.operations[o];
    if (operation.type == OperationType::exchange) {
      const double startup = operation.startup.value;
      const double known = links.latency_s > 0 ? startup / links.latency_s : 1;
      latency.startup_slope[o] = startup > 0 ? known : 0;
      per_byte.slope[o] = links.seconds_per_byte > 0 ? operation.data.value / links.seconds_per_byte
                                                     : static_cast<double>(operation.bytes);
    } else if (operation.type == OperationType::compute) {
      compute.slope[o] = operation.seconds.value;
    }
  }
  std::vector<Parameter> result;
  for (Parameter& parameter : {std::ref(latency), std::ref(per_byte), std::ref(compute)}) {
    if (has_slope(parameter)) {
      result.push_back(std::move(parameter));
    }
  }
  return result;
}

Parameter seconds_of(const Program& program, std::uint32_t operation) {
  const Operation& each = program.operations[operation];
  Parameter parameter = without_slopes(program, "seconds of " + each.id, each.duration_s());
  // Start-up and data grow together; of a free exchange the data do.
  const double whole = each.duration_s();
  const double startup =
      each.type == OperationType::exchange && whole > 0 ? each.startup.value / whole : 0;
  parameter.startup_slope[operation] = startup;
  parameter.slope[operation] = 1 - startup;
  return parameter;
}

Sensitivity exact_sensitivity(const SteadyState& state, const Parameter& parameter) {
  std::vector<double> slopes(state.node_of.size());
  for (std::size_t o = 0; o < slopes.size(); ++o) {
    slopes[o] = parameter.startup_slope[o] + parameter.slope[o];
  }
  const Derivative found = derivative(state, slopes);
  return {parameter.name, found.left, found.right, true};
}

Sensitivity numeric_sensitivity(const Program& program, const Parameter& parameter,
                                const Evaluation& evaluation, double period) {
  double largest = 0;
  for (std::size_t o = 0; o < parameter.slope.size(); ++o) {
    largest = std::max({largest, parameter.slope[o], parameter.startup_slope[o]});
  }
  const double scale = parameter.value > 0 ? parameter.value : period / largest;
  const double step = kRelativeStep * scale;
  const double right = (period_s(moved(program, parameter, step), evaluation) - period) / step;
  const double left = parameter.value > 0
                          ? (period - period_s(moved(program, parameter, -step), evaluation)) / step
                          : right;
  return {parameter.name, left, right, false};
}

} // namespace stepsim::program
