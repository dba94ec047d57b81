#include "programs/explain/program_evaluation.hpp"

namespace stepsim::programs {
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
  // Without constants a parameter is a factor on the times themselves: its slope is the time.
  const auto of = [&](double constant, std::string name, std::string factor) {
    return constant > 0 ? without_slopes(program, std::move(name), constant)
                        : without_slopes(program, std::move(factor), 1);
  };
  std::vector<Parameter> all{of(links.latency_s, "latency_s", "startup_factor"),
                             of(links.seconds_per_byte, "seconds_per_byte", "data_factor"),
                             without_slopes(program, "compute_factor", 1)};
  for (std::size_t o = 0; o < program.operations.size(); ++o) {
    const Operation& operation = program.operations[o];
    if (operation.type == OperationType::exchange) {
      all[0].startup_slope[o] = operation.startup.value / all[0].value;
      all[1].slope[o] = operation.data.value / all[1].value;
    } else if (operation.type == OperationType::compute) {
      all[2].slope[o] = operation.seconds.value;
    }
  }
  std::erase_if(all, [](const Parameter& parameter) { return !has_slope(parameter); });
  return all;
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

} // namespace stepsim::programs
