#include "run/evaluated_program.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "collectives/method.hpp"
#include "programs/event_pass.hpp"
#include "programs/event_period.hpp"
#include "programs/explain/program_evaluation.hpp"
#include "programs/program_check.hpp"
#include "programs/rank_vectors.hpp"
#include "programs/recurrence.hpp"
#include "programs/steady_state.hpp"
#include "run/run_figures.hpp"

namespace stepsim::study {

namespace {

using programs::OperationTimes;
using programs::Program;

// Instances that are recorded for the lists of a result, as doubles of 8 bytes, twice.
constexpr std::uint64_t kMostInstances = std::uint64_t{1} << 26;

void refuse_many_instances(const Program& made, std::uint64_t ranks, std::int64_t iterations) {
  const std::uint64_t instances =
      ranks * made.iteration_size() * static_cast<std::uint64_t>(iterations);
  if (instances > kMostInstances) {
    throw SimulationError("the program has " + std::to_string(made.iteration_size()) +
                          " operations on each of " + std::to_string(ranks) + " ranks in " +
                          std::to_string(iterations) + " iterations: more than " +
                          std::to_string(kMostInstances) + "; lower iterations");
  }
}

OperationTimes evaluate(const Scenario& scenario, const Program& made,
                        const programs::Factors& factors, std::int64_t iterations,
                        programs::Record record = programs::Record::all) {
  const bool varies = scenario.variability.varies();
  refuse_many_instances(made, varies ? made.ranks : 1, iterations);
  if (!varies && programs::recurrence_applies(made)) {
    return programs::recurrence(made, iterations, factors, record);
  }
  if (programs::recurrence_applies(made)) {
    return programs::rank_vectors(made, iterations, factors, {}, record);
  }
  return programs::event_pass(varies ? made : programs::one_rank(made), iterations, factors,
                              record);
}

// The mean of the iterations that are not discarded. The first one waits for no exchange of an
// iteration before it: where it counts, one iteration more follows and takes its place. Iterations
// behind that one run, too, where they slow it.
double mean_of(const Scenario& scenario, const Program& made, const programs::Factors& factors,
               const OperationTimes& times) {
  const std::int64_t discard = discarded_iterations(scenario);
  const std::int64_t after = programs::iterations_after(made);
  if (discard > 0 && after == 0) {
    return programs::mean_period(times, discard).value;
  }
  const std::int64_t counted = times.iterations + (discard > 0 ? 0 : 1);
  return programs::mean_period(
             first_iterations(evaluate(scenario, made, factors, counted + after), counted),
             std::max<std::int64_t>(discard, 1))
      .value;
}

// Whether the period is a mean over the iterations that were evaluated, not that of a steady state.
bool averages(const Scenario& scenario) {
  return scenario.variability.varies() ||
         scenario.training.warmup_iterations > discarded_iterations(scenario);
}

// The first iteration of means; the first one that there is waits for no exchange before it.
std::int64_t first_of_mean(const Scenario& scenario) {
  return std::min(std::max<std::int64_t>(discarded_iterations(scenario), 1),
                  scenario.training.iterations - 1);
}

// `exact`: the cycle ratio of equal ranks on fifo streams.
double period_of(const Scenario& scenario, const Program& made, const programs::Factors& factors,
                 const OperationTimes& times, bool exact) {
  if (averages(scenario)) {
    return mean_of(scenario, made, factors, times);
  }
  return exact ? programs::steady_period(made).value
               : programs::event_period(programs::one_rank(made)).period.value;
}

EvaluatedProgram evaluated_by_times(const Scenario& scenario, const ScenarioProgram& made,
                                    const programs::Factors& factors) {
  const Program& program = made.program;
  const bool varies = scenario.variability.varies();
  const Program no_exchanges = programs::without_exchanges(program);
  const std::int64_t iterations = scenario.training.iterations;
  EvaluatedProgram result;
  result.times = evaluate(scenario, program, factors, iterations);
  result.alone = evaluate(scenario, no_exchanges, factors, iterations, programs::Record::marker);
  result.first_counted = averages(scenario) ? first_of_mean(scenario) : iterations / 2;
  const bool by_recurrence = programs::recurrence_applies(program);
  result.period = period_of(scenario, program, factors, result.times, by_recurrence);
  result.alone_period = period_of(scenario, no_exchanges, factors, result.alone, by_recurrence);
  result.method =
      collectives::name(std::max(made.method, !by_recurrence ? collectives::Method::events
                                              : varies       ? collectives::Method::max_plus
                                                             : made.method));
  if (program.interference.any()) {
    Program free = program;
    free.interference = {};
    const OperationTimes times =
        varies ? evaluate(scenario, free, factors, iterations) : OperationTimes{};
    result.interference =
        std::max(0.0, result.period - period_of(scenario, free, factors, times, false));
  }
  return result;
}

// The network may remember what was sent, so that the mean is over simulated iterations. Where none
// is discarded one more takes the place of the first, which waits for nothing.
EvaluatedProgram evaluated_on_network(const Scenario& scenario, const Scenario& own,
                                      const ScenarioProgram& made,
                                      const programs::Factors& factors) {
  const std::int64_t iterations = own.training.iterations;
  const std::int64_t discard = discarded_iterations(own);
  const std::int64_t first = std::max<std::int64_t>(discard, 1);
  const std::int64_t counted = discard > 0 ? iterations : iterations + 1;
  const std::int64_t simulated = counted + programs::iterations_after(made.program);
  refuse_many_instances(made.program, made.program.ranks, simulated);
  EvaluatedProgram result;
  result.network = network_program(scenario, made, simulated);
  OperationTimes times =
      first_iterations(std::move(result.network->run.jobs.front().times), counted);
  result.period = programs::mean_period(times, first).value;
  result.times = first_iterations(std::move(times), iterations);
  result.first_counted = first_of_mean(own);
  const Program no_exchanges = programs::without_exchanges(made.program);
  result.alone = evaluate(own, no_exchanges, factors, counted, programs::Record::marker);
  result.alone_period = own.variability.varies()
                            ? programs::mean_period(result.alone, first).value
                            : period_of(own, no_exchanges, factors, result.alone,
                                        programs::recurrence_applies(no_exchanges));
  result.alone = first_iterations(std::move(result.alone), iterations);
  result.method = collectives::name(collectives::Method::events);
  if (made.program.interference.any()) {
    const OperationTimes free =
        first_iterations(without_interference(scenario, *result.network), counted);
    result.interference = std::max(0.0, result.period - programs::mean_period(free, first).value);
  }
  return result;
}

} // namespace

EvaluatedProgram evaluated(const Scenario& scenario, const Scenario& own,
                           const ScenarioProgram& made, const programs::Factors& factors) {
  return made.simulated ? evaluated_on_network(scenario, own, made, factors)
                        : evaluated_by_times(own, made, factors);
}

} // namespace stepsim::study
