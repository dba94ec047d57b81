#include "run/run_program.hpp"

#include "programs/explain/binding_path.hpp"
#include "programs/explain/program_evaluation.hpp"
#include "run/run_figures.hpp"
#include "run/verdict.hpp"

namespace stepsim::study {

namespace {

using programs::OperationType;
using programs::Program;

// Seconds of exchanges on the binding path, per step. Where too few iterations were run to follow
// the path, only the exposed communication is known.
double exchanges_on_path(const Scenario& scenario, const ScenarioProgram& made,
                         const EvaluatedProgram& found, const programs::Factors& factors,
                         const Summary& summary) {
  const std::int64_t discard = std::max<std::int64_t>(1, discarded_iterations(scenario));
  if (discard >= found.times.iterations) {
    return *summary.exposed_communication_s;
  }
  if (found.network) { // a program whose exchanges last as long as their messages did
    ScenarioProgram measured = made;
    measured.program.interference.exchange = 1; // is in what was measured
    for (std::uint32_t o = 0; o < made.program.iteration_size(); ++o) {
      programs::Operation& each = measured.program.operations[o];
      if (each.type == OperationType::exchange) {
        each.startup = {};
        each.data = Seconds{last_seconds(found.times, o)};
      }
    }
    EvaluatedProgram timed;
    timed.times = recorded_times(scenario, measured, factors);
    return exchanges_on_path(scenario, measured, timed, factors, summary);
  }
  const bool varies = scenario.variability.varies();
  const Program& program = made.program;
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
    path = programs::binding_path(varies ? program : programs::one_rank(program), times, factors,
                                  std::min(discard, times.iterations - 1));
  }
  double seconds = 0;
  for (const programs::PathStep& step : path.steps) {
    const bool exchange = program.operations[step.operation].type == OperationType::exchange;
    seconds += exchange ? step.seconds() : 0;
  }
  return seconds / path.iterations / program.steps;
}

// The parts of all exchanges of shards and outer messages.
ExchangeShares parts_of(const ScenarioProgram& made) {
  ExchangeShares parts;
  for_each_exchange(made, [&](const UnitExchange& exchange) {
    parts.latency_s += exchange.startup_s;
    parts.reduction_s += exchange.reduction_s;
    parts.bandwidth_s +=
        std::max(0.0, exchange.seconds - exchange.startup_s - exchange.reduction_s);
  });
  return parts;
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
      [&] {
        const bool groups = scenario.training.sharding.strategy != ShardingStrategy::none ||
                            trains_in_rounds(scenario.training);
        return groups ? largest_of(parts_of(made)) : largest_part(scenario, made.plan, made.units);
      });
}

} // namespace stepsim::study
