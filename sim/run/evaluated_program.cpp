#include "run/evaluated_program.hpp"

#include "programs/event_pass.hpp"
#include "programs/program_draft.hpp"
#include "programs/recurrence.hpp"
#include "programs/steady_state.hpp"
#include "run/network_figures.hpp"
#include "run/run_figures.hpp"
#include "run/run_program.hpp"

namespace stepsim::study {

namespace {

using programs::Operation;
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

// Of equal ranks on fifo streams iterations are recorded until they repeat, unless all are asked
// for.
OperationTimes evaluate(const Scenario& scenario, const Program& made,
                        const programs::OperationLayout& layout, const programs::Factors& factors,
                        std::int64_t iterations, programs::Record record) {
  using programs::Record;
  const bool varies = scenario.variability.varies();
  refuse_many_instances(made, varies ? made.ranks : 1, iterations);
  if (!varies && programs::recurrence_applies(made)) {
    return programs::recurrence(made, layout, iterations,
                                record == Record::all ? Record::all : Record::steady);
  }
  if (programs::recurrence_applies(made)) {
    return programs::rank_vectors(made, layout, iterations, factors, {}, record);
  }
  if (!varies && iterations > 1 && record == Record::first_rank) {
    if (auto times = programs::times_from_idle(made, layout, iterations)) {
      return *std::move(times);
    }
  }
  if (!varies && programs::fifo_pass_applies(made)) {
    return programs::fifo_pass(made, iterations, record);
  }
  return programs::event_pass(varies ? made : programs::one_rank(made), iterations, factors,
                              record == Record::marker ? Record::marker : Record::all);
}

bool is_pipelined(const Scenario& scenario) {
  return scenario.training.algorithm == TrainingAlgorithm::pipe_sgd;
}

// Whether the marker does not wait for all exchanges of its own iteration, as in a step whose
// marker is the end of its backward pass.
bool exchanges_outlast_marker(const Program& made) {
  std::vector<bool> awaited(made.iteration_size());
  std::vector<bool> of_stream(made.streams.size()); // a later operation of a fifo stream is awaited
  awaited[made.marker] = true;
  for (std::uint32_t o = made.iteration_size(); o-- > 0;) {
    const Operation& each = made.operations[o];
    const bool in_order = made.streams[each.stream].discipline == programs::Discipline::fifo;
    awaited[o] = awaited[o] || (in_order && of_stream[each.stream]);
    if (!awaited[o]) {
      if (each.type == programs::OperationType::exchange) {
        return true;
      }
      continue;
    }
    of_stream[each.stream] = true;
    for (const programs::Wait& wait : made.waits_of(o)) {
      if (wait.distance == 0) {
        awaited[wait.operation] = true;
      }
    }
  }
  return false;
}

// Where the window begins and ends: with the whole run if `from` is -1.
double start_of(const OperationTimes& times, const Window& window) {
  return window.from < 0 ? 0 : programs::latest_marker_end(times, window.from);
}
double end_of(const OperationTimes& times, const Window& window) {
  return window.from < 0 ? times.makespan_s : programs::latest_marker_end(times, window.to);
}

double mean_period(const OperationTimes& times, const Window& window) {
  return (end_of(times, window) - start_of(times, window)) /
         static_cast<double>(window.to - window.from);
}

// Seconds per iteration of the window with an exchange under way, of all streams and of the stream
// of outer exchanges. `result.ends` must be set.
void set_communication(const Program& made, const OperationTimes& times, const Window& window,
                       EvaluatedProgram& result) {
  const bool whole = window.from < 0;
  const double from_s = whole ? 0 : result.ends[static_cast<std::size_t>(window.from)];
  const double to_s = whole ? times.makespan_s : result.ends[static_cast<std::size_t>(window.to)];
  const auto seconds = [&](std::string_view stream) {
    return exchange_seconds(made, times, 0, from_s, to_s, stream) /
           static_cast<double>(window.to - window.from);
  };
  result.communication_s = seconds("");
  result.outer_communication_s = seconds("outer");
}

std::vector<double> marker_ends(const OperationTimes& times, std::int64_t iterations) {
  std::vector<double> ends;
  for (std::int64_t t = 0; t < iterations; ++t) {
    ends.push_back(programs::latest_marker_end(times, t));
  }
  return ends;
}

// Iterations behind the window run, too, where they slow those of the window.
std::int64_t iterations_of(const Program& made, const Window& window) {
  return window.to + 1 + (window.from < 0 ? 0 : programs::iterations_after(made));
}

OperationTimes window_times(const Scenario& scenario, const Program& made,
                            const programs::OperationLayout& layout,
                            const programs::Factors& factors, const Window& window,
                            programs::Record record) {
  return evaluate(scenario, made, layout, factors, iterations_of(made, window), record);
}

// Whether the period is a mean over the iterations that were evaluated, not that of a steady state.
bool averages(const Scenario& scenario) {
  return scenario.variability.random() || is_pipelined(scenario) ||
         scenario.training.warmup_iterations > discarded_iterations(scenario);
}

// `exact`: the cycle ratio of equal ranks on fifo streams.
double period_of_equal(const Program& made, const programs::OperationLayout& layout, bool exact) {
  return exact ? programs::steady_period(made, layout).value
               : programs::event_period(made, layout).period.value;
}

// Of workers whose factors are constant every exchange waits for the slowest one, which ends no
// operation before another does, so that its period is that of all.
double steady_period(const Scenario& scenario, const Program& made,
                     const programs::OperationLayout& layout, bool exact) {
  if (!scenario.variability.varies()) {
    return period_of_equal(made, layout, exact);
  }
  const double factor = layers::Jitter(scenario.variability, made.ranks).slowest();
  Program slowed = made;
  for (programs::Operation& operation : slowed.operations) {
    if (operation.type == programs::OperationType::compute) {
      operation.seconds = operation.seconds * factor;
    }
  }
  return period_of_equal(slowed, layout, exact);
}

// [Kind]: seconds that operations compute, per optimizer step.
std::array<double, programs::kKindCount> seconds_by_kind(const Program& made) {
  std::array<double, programs::kKindCount> seconds{};
  for (std::uint32_t o = 0; o < made.iteration_size(); ++o) {
    const Operation& each = made.operations[o];
    if (computes(made, each)) {
      seconds[static_cast<std::size_t>(each.kind)] += each.seconds.value;
    }
  }
  for (double& each : seconds) {
    each /= made.steps;
  }
  return seconds;
}

// Without exchanges, in the same number of iterations as with them. `exact` as in steady_period().
AloneTimes alone_times(const Scenario& scenario, const Program& no_exchanges,
                       const programs::OperationLayout& layout, const programs::Factors& factors,
                       const Window& window, std::int64_t iterations, bool exact) {
  const OperationTimes times =
      evaluate(scenario, no_exchanges, layout, factors, iterations, programs::Record::marker);
  return {.ends = marker_ends(times, std::min(iterations, window.to + 1)),
          .period = averages(scenario) ? mean_period(times, window)
                    : times.period_s   ? *times.period_s
                                       : steady_period(scenario, no_exchanges, layout, exact),
          .computing = seconds_by_kind(no_exchanges)};
}

// The period of `alone` without what runs on the copy stream, where gradients are selected beside
// computing.
double unselected_period(const Scenario& scenario, const Program& program,
                         const programs::OperationLayout& layout, const programs::Factors& factors,
                         const Window& window, bool exact, const AloneTimes& alone) {
  const auto copies =
      std::ranges::find(program.streams, programs::kCopyStream, &programs::Stream::name);
  if (copies == program.streams.end()) {
    return alone.period;
  }
  const auto selects = [&](const Operation& each) {
    return program.streams.begin() + each.stream == copies;
  };
  Program bare = programs::without_exchanges(program);
  for (programs::Operation& each : bare.operations) {
    each.seconds = selects(each) ? Seconds{} : each.seconds;
  }
  return alone_times(scenario, bare, layout, factors, window, iterations_of(bare, window), exact)
      .period;
}

// Seconds per iteration of a program whose exchanges have given times.
double period_by_times(const Scenario& scenario, const Program& program,
                       const programs::OperationLayout& layout, const programs::Factors& factors,
                       const Window& window) {
  return averages(scenario)
             ? mean_period(window_times(scenario, program, layout, factors, window,
                                        programs::Record::marker),
                           window)
             : steady_period(scenario, program, layout, programs::recurrence_applies(program));
}

// Seconds per iteration if exchanges slowed no computing and computing no exchanges.
double unslowed_period(const Scenario& scenario, const Program& program,
                       const programs::OperationLayout& layout, const programs::Factors& factors,
                       const Window& window) {
  if (!averages(scenario) && !scenario.variability.varies()) {
    if (const auto period = programs::period_from_idle(program, layout, {})) {
      return *period;
    }
  }
  Program free = program;
  free.interference = {};
  return period_by_times(scenario, free, layout, factors, window);
}

EvaluatedProgram evaluated_by_times(const Scenario& scenario, const ScenarioProgram& made,
                                    const programs::Factors& factors, const Window& window,
                                    programs::Record record, std::optional<AloneTimes>* known) {
  const Program& program = made.program;
  const bool varies = scenario.variability.varies();
  const std::int64_t iterations = scenario.training.iterations;
  EvaluatedProgram result;
  const bool by_recurrence = programs::recurrence_applies(program);
  const programs::OperationLayout& layout = made.layout;
  OperationTimes times = window_times(scenario, program, layout, factors, window,
                                      varies ? record : programs::Record::first_rank);
  result.ends = marker_ends(times, window.to + 1);
  if (averages(scenario)) {
    result.period = mean_period(times, window);
    set_communication(program, times, window, result);
    result.steady = scenario.variability.random() ? result.period
                    : times.period_s              ? *times.period_s
                                     : steady_period(scenario, program, layout, by_recurrence);
    result.times = first_iterations(std::move(times), iterations);
  } else {
    std::optional<double> period = times.period_s;
    if (!period && !varies && !by_recurrence) {
      const auto found = programs::repetition(program, times);
      period = found ? std::optional(found->period.value) : std::nullopt;
    }
    const Window settled{window.to - (window.to - window.from + 1) / 2, window.to};
    set_communication(program, times, settled, result);
    result.times = first_iterations(std::move(times), iterations);
    result.period = period ? *period : period_by_times(scenario, program, layout, factors, window);
    result.steady = result.period;
  }
  const auto alone = [&] {
    const Program no_exchanges = programs::without_exchanges(program);
    return alone_times(scenario, no_exchanges, layout, factors, window,
                       iterations_of(no_exchanges, window), by_recurrence);
  };
  std::optional<AloneTimes> own;
  std::optional<AloneTimes>& kept = known == nullptr ? own : *known;
  if (!kept) {
    kept = alone();
  }
  result.alone = *kept;
  result.unselected =
      unselected_period(scenario, program, layout, factors, window, by_recurrence, result.alone);
  // A method that the scenario asks for says how exchanges are timed, whatever plays the program.
  result.method = collectives::name(
      scenario.method ? made.method
                      : std::max(made.method, !by_recurrence ? collectives::Method::events
                                              : varies       ? collectives::Method::max_plus
                                                             : made.method));
  if (program.interference.any()) {
    result.interference =
        std::max(0.0, result.period - unslowed_period(scenario, program, layout, factors, window));
  }
  return result;
}

// The network may remember what was sent, so that the mean is over simulated iterations.
EvaluatedProgram evaluated_on_network(const Scenario& scenario, const Scenario& own,
                                      const ScenarioProgram& made, const programs::Factors& factors,
                                      const Window& window) {
  const std::int64_t iterations = own.training.iterations;
  const std::int64_t simulated = iterations_of(made.program, window);
  refuse_many_instances(made.program, made.program.ranks, simulated);
  EvaluatedProgram result;
  result.network = network_program(scenario, made, simulated);
  OperationTimes times = std::move(result.network->run.jobs.front().times);
  result.period = result.steady = mean_period(times, window);
  result.ends = marker_ends(times, window.to + 1);
  const bool all_sent = result.network->jobs.front().program->sent_iterations >= simulated;
  if (all_sent) {
    set_communication(made.program, times, window, result);
  }
  result.times = first_iterations(std::move(times), iterations);
  if (!all_sent) {
    const std::int64_t first = std::max<std::int64_t>(0, window.from);
    // Servers may have sent a sum to one worker before the other.
    const std::size_t ranks = has_servers(own) ? result.times.ranks : 1;
    const auto seconds = [&](std::string_view stream) {
      return exchange_seconds(made.program, result.times, first, 0, kNever, stream, ranks) /
             static_cast<double>(iterations - first);
    };
    result.communication_s = seconds("");
    result.outer_communication_s = seconds("outer");
  }
  const Program no_exchanges = programs::without_exchanges(made.program);
  const bool exact = programs::recurrence_applies(no_exchanges);
  result.alone = alone_times(own, no_exchanges, made.layout, factors, window, window.to + 1, exact);
  if (is_pipelined(own) && !own.variability.random()) { // the second half may catch up
    result.steady = std::max(result.period, result.alone.period);
  }
  result.unselected =
      unselected_period(own, made.program, made.layout, factors, window, exact, result.alone);
  result.method = collectives::name(collectives::Method::events);
  if (made.program.interference.any()) {
    result.interference = std::max(
        0.0, result.period - mean_period(without_interference(scenario, *result.network), window));
  }
  return result;
}

} // namespace

bool computes(const Program& made, const Operation& operation) {
  return operation.type == programs::OperationType::compute &&
         made.streams[operation.stream].name != programs::kCopyStream;
}

Window window_of(const Scenario& scenario, const Program& made) {
  const std::int64_t discard = discarded_iterations(scenario);
  const bool replaced = discard == 0 && !is_pipelined(scenario);
  const std::int64_t back = replaced || exchanges_outlast_marker(made) ? 0 : 1;
  return {discard - back, scenario.training.iterations - back};
}

EvaluatedProgram evaluated(const Scenario& scenario, const Scenario& own,
                           const ScenarioProgram& made, const programs::Factors& factors,
                           const Window& window, programs::Record record,
                           std::optional<AloneTimes>* known) {
  return made.simulated ? evaluated_on_network(scenario, own, made, factors, window)
                        : evaluated_by_times(own, made, factors, window, record, known);
}

double evaluated_period(const Scenario& scenario, const Scenario& own, const ScenarioProgram& made,
                        const programs::Factors& factors, const Window& window) {
  return made.simulated
             ? evaluated(scenario, own, made, factors, window, programs::Record::all).period
             : period_by_times(own, made.program, made.layout, factors, window);
}

double period_alone(const Scenario& scenario, const ScenarioProgram& made,
                    const programs::Factors& factors, const Window& window) {
  const Program no_exchanges = programs::without_exchanges(made.program);
  return alone_times(scenario, no_exchanges, made.layout, factors, window,
                     iterations_of(no_exchanges, window),
                     programs::recurrence_applies(made.program))
      .period;
}

OperationTimes recorded_times(const Scenario& scenario, const ScenarioProgram& made,
                              const programs::Factors& factors) {
  return evaluate(scenario, made.program, made.layout, factors, scenario.training.iterations,
                  programs::Record::all);
}

} // namespace stepsim::study
