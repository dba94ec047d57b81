#include "run/run_program.hpp"

#include "programs/explain/binding_path.hpp"
#include "programs/explain/program_evaluation.hpp"
#include "run/network_figures.hpp"
#include "run/run_figures.hpp"
#include "run/verdict.hpp"

namespace stepsim::study {

namespace {

using programs::OperationType;
using programs::Program;

// Seconds of exchanges on the binding path, per step. On a network of links, and where too few
// iterations were run to follow the path, only the exposed communication is known.
double exchanges_on_path(const Scenario& scenario, const ScenarioProgram& made,
                         const EvaluatedProgram& found, const programs::Factors& factors,
                         const Summary& summary) {
  const std::int64_t discard = std::max<std::int64_t>(1, discarded_iterations(scenario));
  if (found.network || discard >= found.times.iterations) {
    return *summary.exposed_communication_s;
  }
  const bool varies = scenario.variability.varies();
  const Program program = varies ? made.program : programs::one_rank(made.program);
  programs::BindingPath path;
  if (!varies && programs::recurrence_applies(program)) {
    path = programs::critical_cycle(program, programs::steady_state(program));
  } else {
    std::optional<programs::OperationTimes> own;
    if (varies && found.times.columns > 0) {
      own = recorded_times(scenario, made, factors);
    } else if (found.times.period_s) { // what the recorded iterations wait for, all others do
      own = first_iterations(found.times, found.times.repeats_from);
    }
    const programs::OperationTimes& times = own ? *own : found.times;
    path = programs::binding_path(program, times, factors, std::min(discard, times.iterations - 1));
  }
  double seconds = 0;
  for (const programs::PathStep& step : path.steps) {
    const bool exchange = program.operations[step.operation].type == OperationType::exchange;
    seconds += exchange ? step.seconds() : 0;
  }
  return seconds / path.iterations / program.steps;
}

// The parts of all exchanges of shards and outer messages. On a network of links there is no single
// start-up to name.
ExchangeShares parts_of(const ScenarioProgram& made) {
  ExchangeShares parts;
  for (std::uint32_t o = 0; o < made.program.iteration_size(); ++o) {
    const programs::Operation& each = made.program.operations[o];
    if (const UnitExchange* exchange = exchange_of(made, each)) {
      const double startup = made.simulated ? 0 : each.startup.value;
      parts.latency_s += startup;
      parts.reduction_s += exchange->reduction_s;
      parts.bandwidth_s += std::max(0.0, exchange->seconds - startup - exchange->reduction_s);
    }
  }
  return parts;
}

std::string largest_of_program(const Scenario& scenario, const ScenarioProgram& made,
                               const EvaluatedProgram& found) {
  const bool groups = scenario.training.sharding.strategy != ShardingStrategy::none ||
                      trains_in_rounds(scenario.training);
  if (groups) {
    return largest_of(parts_of(made));
  }
  return found.network
             ? largest_on_network(scenario, made.plan, made.units,
                                  links_of(scenario.cluster.fabric->fabric(), found.network->run))
             : largest_part(scenario, made.plan, made.units);
}

} // namespace

std::string program_bottleneck(const Scenario& scenario, const ScenarioProgram& made,
                               const EvaluatedProgram& found, const programs::Factors& factors,
                               const Summary& summary) {
  if (summary.straggler_wait_s.value_or(0) > kStragglerShare * step_of(summary)) {
    return "straggler";
  }
  return verdict(
      summary, [&] { return exchanges_on_path(scenario, made, found, factors, summary); },
      [&] { return largest_of_program(scenario, made, found); });
}

} // namespace stepsim::study
