#include "programs/explain/program_evaluation.hpp"

#include "base/error.hpp"
#include "programs/event_pass.hpp"

#include <numeric>

namespace stepsim::programs {

namespace {

constexpr double kMostRecorded = 0x1p26;

// The steady state of equal ranks by events, if the times of iterations repeat.
std::optional<EventPeriod> steady_events(const Program& program, const Evaluation& evaluation) {
  if (evaluator_of(program, evaluation) != Evaluator::events || !program.enters_together() ||
      !evaluation.factors.compute.empty() || !evaluation.factors.exchange.empty()) {
    return std::nullopt;
  }
  const EventPeriod found = event_period(program);
  return found.cyclicity > 0 ? std::optional(found) : std::nullopt;
}

constexpr double kRelativeStep = 1e-6;
constexpr double kNoise = 1e-12; // of a period, by rounding

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

bool has_critical_cycle(const Program& program, const Evaluation& evaluation) {
  return recurrence_applies(program) && evaluation.factors.compute.empty() &&
         evaluation.factors.exchange.empty();
}

Evaluator evaluator_of(const Program& program, const Evaluation& evaluation) {
  if (has_critical_cycle(program, evaluation)) {
    return Evaluator::closed_form;
  }
  return recurrence_applies(program) ? Evaluator::max_plus : Evaluator::events;
}

Evaluation settled(const Program& program, const Evaluation& evaluation) {
  const std::optional<EventPeriod> steady = steady_events(program, evaluation);
  if (!steady) {
    return evaluation;
  }
  constexpr std::int64_t kFewest = 16; // iterations, so that a path through them is typical
  Evaluation result = evaluation;
  result.discard = std::max(evaluation.discard, steady->steady_from + 1);
  const std::int64_t wanted = std::max(kFewest, evaluation.iterations - evaluation.discard);
  const std::int64_t whole = 4 * steady->cyclicity; // a path leaves out the last quarter
  result.iterations = result.discard + (wanted + whole - 1) / whole * whole;
  result.after = iterations_after(program);
  const double recorded = static_cast<double>(program.operations.size()) *
                          static_cast<double>(result.iterations + result.after);
  return recorded > kMostRecorded ? evaluation : result;
}

OperationTimes evaluate(const Program& program, const Evaluation& evaluation, Record record) {
  if (program.ranks > 1 && evaluation.factors.compute.empty()) {
    return evaluate(one_rank(program), evaluation, record);
  }
  const double recorded = static_cast<double>(program.operations.size()) *
                          static_cast<double>(program.ranks) *
                          static_cast<double>(evaluation.iterations);
  if (record == Record::all && recorded > kMostRecorded) {
    throw SimulationError("recording " + std::to_string(evaluation.iterations) + " iterations of " +
                          std::to_string(program.operations.size()) + " operations on " +
                          std::to_string(program.ranks) +
                          " ranks takes too much memory: at most 67108864 in all");
  }
  switch (evaluator_of(program, evaluation)) {
  case Evaluator::closed_form:
    return recurrence(program, evaluation.iterations, record);
  case Evaluator::max_plus:
    return rank_vectors(program, evaluation.iterations, evaluation.factors, evaluation.each,
                        record);
  case Evaluator::events:
    if (!program.enters_together()) {
      throw SimulationError("exchanges that ranks enter one by one (entry each) cannot run with "
                            "interference or with streams that are not fifo");
    }
    return first_iterations(
        event_pass(program, evaluation.iterations + evaluation.after, evaluation.factors, record),
        evaluation.iterations);
  }
  return {};
}

double period_s(const Program& program, const Evaluation& evaluation) {
  if (has_critical_cycle(program, evaluation)) {
    return steady_period(program, layout_of(program)).value;
  }
  const std::optional<EventPeriod> steady = steady_events(program, evaluation);
  return steady ? steady->period.value
                : mean_period(evaluate(program, evaluation), evaluation.discard).value;
}

double beyond_s(const Program& part, const Evaluation& evaluation, double period) {
  const double beyond = period - period_s(part, evaluation);
  constexpr double kRounding = 1e-11; // sums of thousands of operations in two orders
  return beyond < kRounding * period ? 0 : beyond;
}

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
  if (right - left > kNoise * period / step) {
    return {parameter.name, left, right, false};
  }
  const double both = std::midpoint(left, right); // the centre, whose rounding they share, is out
  return {parameter.name, both, both, false};
}

} // namespace stepsim::programs
