#include "run/evaluated_program.hpp"

#include "programs/event_pass.hpp"
#include "programs/steady_state.hpp"
#include "run/network_figures.hpp"
#include "run/run_figures.hpp"
#include "run/run_program.hpp"

namespace stepsim::study {

namespace {

using programs::Operation;
using programs::OperationTimes;
using programs::Program;
using programs::Record;

// Instances that are recorded for the lists of a result, as doubles of 8 bytes, twice.
constexpr std::uint64_t kMostInstances = std::uint64_t{1} << 26;

void refuse_many_instances(const Program& made, std::uint64_t ranks, std::int64_t iterations) {
  const std::uint64_t instances =
      ranks * made.iteration_size() * static_cast<std::uint64_t>(iterations);
  if (instances > kMostInstances) {
    throw SimulationError(fmt::format("the program has {} operations on each of {} ranks in {} "
                                      "iterations: more than {}; lower iterations",
                                      made.iteration_size(), ranks, iterations, kMostInstances));
  }
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
// of outer exchanges.
void set_communication(const ScenarioProgram& made, const OperationTimes& times,
                       const Window& window, EvaluatedProgram& result) {
  const auto seconds = [&](std::string_view stream) {
    return exchange_seconds(made, times, 0, start_of(times, window), end_of(times, window),
                            stream) /
           static_cast<double>(window.to - window.from);
  };
  result.communication_s = seconds("");
  result.outer_communication_s = seconds("outer");
}

// The same of exchanges that workers enter one by one, without waiting for the last worker.
double own_exchange_seconds(const ScenarioProgram& made) {
  const Program& program = made.program;
  double sum = 0;
  for (const std::uint32_t o : made.layout.exchanges) {
    const Operation& each = program.operations[o];
    for (std::int64_t t = made.window.from; t < made.window.to; ++t) {
      sum += each.duration_s() *
             programs::exchange_factor(program, made.factors, each, t, made.window.to);
    }
  }
  return sum / static_cast<double>(made.window.to - made.window.from);
}

std::vector<double> marker_ends(const OperationTimes& times, std::int64_t iterations) {
  return base::collected_n<double>(
      iterations, [&](std::int64_t t) { return programs::latest_marker_end(times, t); });
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

// Plays the program of a scenario, or a form of it with other times, without messages.
class Player {
public:
  Player(const Scenario& scenario, const ScenarioProgram& made)
      : scenario_(scenario), made_(made), window_(made.window) {}

  // Of equal ranks on fifo streams iterations are recorded until they repeat, unless all are asked
  // for; their operations take `seconds`, if these are given.
  [[nodiscard]] OperationTimes times(const Program& program, std::int64_t iterations, Record record,
                                     std::int64_t recorded_from = 0,
                                     std::span<const double> seconds = {}) const {
    const bool varies = scenario_.variability.varies();
    const bool fifo = programs::recurrence_applies(program);
    refuse_many_instances(program, varies ? program.ranks : 1,
                          iterations - (varies && fifo ? recorded_from : 0));
    if (fifo) {
      return varies ? programs::rank_vectors(program, made_.layout, iterations, made_.factors,
                                             made_.each, record, recorded_from)
                    : programs::recurrence(program, made_.layout, iterations,
                                           record == Record::all ? Record::all : Record::steady,
                                           seconds);
    }
    if (!varies && iterations > 1 && record == Record::first_rank) {
      if (auto times = programs::times_from_idle(program, made_.layout, iterations)) {
        return *std::move(times);
      }
    }
    if (!varies && programs::fifo_pass_applies(program)) {
      return programs::fifo_pass(program, iterations, record);
    }
    return programs::event_pass(varies ? program : programs::one_rank(program), iterations,
                                made_.factors,
                                record == Record::marker ? Record::marker : Record::all);
  }

  // Without exchanges, in the same number of iterations as with them.
  [[nodiscard]] AloneTimes alone(const Program& no_exchanges, std::int64_t iterations) const {
    const OperationTimes played = times(no_exchanges, iterations, Record::marker);
    return alone(no_exchanges, iterations, played,
                 averages(no_exchanges) || played.period_s ? 0 : steady_period(no_exchanges));
  }
  [[nodiscard]] AloneTimes alone(const Program& no_exchanges) const {
    return alone(no_exchanges, iterations_of(no_exchanges, window_));
  }
  // The same of the program itself, which is not copied where that can be.
  [[nodiscard]] AloneTimes alone() const {
    const Program& program = made_.program;
    if (!scenario_.variability.varies() && programs::recurrence_applies(program)) {
      const std::int64_t iterations = iterations_of(program, window_);
      const OperationTimes played = times(program, iterations, Record::marker, 0,
                                          programs::seconds_without_exchanges(program));
      if (averages(program) || played.period_s) {
        return alone(program, iterations, played, 0);
      }
    }
    return alone(programs::without_exchanges(program));
  }

  // The period of `alone` without what runs on the copy stream, where gradients are selected beside
  // computing.
  [[nodiscard]] double unselected_period(const AloneTimes& alone_times) const {
    const Program& program = made_.program;
    const auto copies =
        std::ranges::find(program.streams, programs::kCopyStream, &programs::Stream::name);
    if (copies == program.streams.end()) {
      return alone_times.period;
    }
    Program bare = programs::without_exchanges(program);
    for (Operation& each : bare.operations) {
      each.seconds = program.streams.begin() + each.stream == copies ? Seconds{} : each.seconds;
    }
    return alone(bare).period;
  }

  // Seconds per iteration of a program whose exchanges have given times.
  [[nodiscard]] double period(const Program& program) const {
    return averages(program)
               ? mean_period(times(program, iterations_of(program, window_), Record::marker),
                             window_)
               : steady_period(program);
  }

  [[nodiscard]] EvaluatedProgram evaluated(Record record, std::optional<AloneTimes>& known) const {
    const Program& program = made_.program;
    const bool varies = scenario_.variability.varies();
    const bool fifo = programs::recurrence_applies(program);
    EvaluatedProgram result;
    OperationTimes played = times(program, iterations_of(program, window_),
                                  varies ? record : Record::first_rank, 0, made_.seconds);
    result.ends = marker_ends(played, window_.to + 1);
    if (averages(program)) {
      result.period = mean_period(played, window_);
      set_communication(made_, played, window_, result);
      if (made_.each) {
        const bool outer = result.outer_communication_s > 0;
        result.communication_s = own_exchange_seconds(made_);
        result.outer_communication_s = outer ? result.communication_s : 0;
      }
      result.steady = wanders(program)  ? result.period
                      : played.period_s ? *played.period_s
                                        : steady_period(program);
      result.times = first_iterations(std::move(played), scenario_.training.iterations);
    } else {
      std::optional<double> found = played.period_s;
      if (!found && !varies && !fifo) {
        const auto repeated = programs::repetition(program, played);
        found = repeated ? std::optional(repeated->period.value) : std::nullopt;
      }
      const std::int64_t half = window_.to - (window_.to - window_.from + 1) / 2;
      const bool repeats = played.period_s && played.repeats_from <= window_.to;
      const Window settled{repeats ? window_.to - 1 : half, window_.to};
      set_communication(made_, played, settled, result);
      result.times = first_iterations(std::move(played), scenario_.training.iterations);
      result.period = result.steady = found ? *found : period(program);
    }
    if (!known) {
      known = alone();
    }
    result.alone = *known;
    result.unselected = unselected_period(result.alone);
    // A method that the scenario asks for says how exchanges are timed, whatever plays the program.
    using collectives::Method;
    const Method played_by = !fifo || made_.each ? Method::events
                             : varies            ? Method::max_plus
                                                 : made_.method;
    result.method =
        collectives::name(scenario_.method ? made_.method : std::max(made_.method, played_by));
    if (program.interference.any()) {
      result.interference = std::max(0.0, result.period - unslowed_period());
    }
    return result;
  }

private:
  // `steady_s`: the period where these times neither give one nor a mean.
  [[nodiscard]] AloneTimes alone(const Program& program, std::int64_t iterations,
                                 const OperationTimes& played, double steady_s) const {
    return {.ends = marker_ends(played, std::min(iterations, window_.to + 1)),
            .period = averages(program) ? mean_period(played, window_)
                                        : played.period_s.value_or(steady_s),
            .computing = seconds_by_kind(program)};
  }

  // Whether workers differ in more than who is the slowest, so that the period has no steady state.
  [[nodiscard]] bool wanders(const Program& program) const {
    return scenario_.variability.random() ||
           (scenario_.variability.varies() && !program.enters_together());
  }

  // Whether the period is a mean over the iterations that were played, not that of a steady state.
  [[nodiscard]] bool averages(const Program& program) const {
    return wanders(program) || is_pipelined(scenario_) ||
           scenario_.training.warmup_iterations > discarded_iterations(scenario_);
  }

  // Of workers whose factors are constant every exchange waits for the slowest one, which ends no
  // operation before another does, so that its period is that of all.
  [[nodiscard]] double steady_period(const Program& program) const {
    if (scenario_.variability.varies()) {
      const double factor = layers::Jitter(scenario_.variability, program.ranks).slowest();
      Program slowed = program;
      for (Operation& each : slowed.operations) {
        each.seconds =
            each.type == programs::OperationType::compute ? each.seconds * factor : each.seconds;
      }
      return period_of_equal(slowed);
    }
    return period_of_equal(program);
  }
  [[nodiscard]] double period_of_equal(const Program& program) const {
    return programs::recurrence_applies(program)
               ? programs::steady_period(program, made_.layout).value
               : programs::event_period(program, made_.layout).period.value;
  }

  // Seconds per iteration if exchanges slowed no computing and computing no exchanges.
  [[nodiscard]] double unslowed_period() const {
    if (!averages(made_.program) && !scenario_.variability.varies()) {
      if (const auto found = programs::period_from_idle(made_.program, made_.layout, {})) {
        return *found;
      }
    }
    Program free = made_.program;
    free.interference = {};
    return period(free);
  }

  const Scenario& scenario_;
  const ScenarioProgram& made_;
  const Window& window_;
};

// The network may remember what was sent, so that the mean is over simulated iterations.
EvaluatedProgram evaluated_on_network(const Scenario& scenario, const Scenario& own,
                                      const ScenarioProgram& made) {
  const Window& window = made.window;
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
    set_communication(made, times, window, result);
  }
  result.times = first_iterations(std::move(times), iterations);
  if (!all_sent) {
    const std::int64_t first = std::max<std::int64_t>(0, window.from);
    // Servers may have sent a sum to one worker before the other.
    const std::size_t ranks = own.communication.has_servers() ? result.times.ranks : 1;
    const auto seconds = [&](std::string_view stream) {
      return exchange_seconds(made, result.times, first, 0, kNever, stream, ranks) /
             static_cast<double>(iterations - first);
    };
    result.communication_s = seconds("");
    result.outer_communication_s = seconds("outer");
  }
  const Player player(own, made);
  result.alone = player.alone(programs::without_exchanges(made.program), window.to + 1);
  if (is_pipelined(own) && !own.variability.random()) { // the second half may catch up
    result.steady = std::max(result.period, result.alone.period);
  }
  result.unselected = player.unselected_period(result.alone);
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

std::int64_t iterations_of(const Program& made, const Window& window) {
  return window.to + 1 + (window.from < 0 ? 0 : programs::iterations_after(made));
}

Window window_of(const Scenario& scenario, const Program& made) {
  const std::int64_t discard = discarded_iterations(scenario);
  const bool replaced = discard == 0 && !is_pipelined(scenario);
  const std::int64_t back = replaced || exchanges_outlast_marker(made) ? 0 : 1;
  return {discard - back, scenario.training.iterations - back};
}

EvaluatedProgram evaluated(const Scenario& scenario, const Scenario& own,
                           const ScenarioProgram& made, Record record,
                           std::optional<AloneTimes>& known) {
  return made.simulated ? evaluated_on_network(scenario, own, made)
                        : Player(own, made).evaluated(record, known);
}

double evaluated_period(const Scenario& scenario, const Scenario& own,
                        const ScenarioProgram& made) {
  return made.simulated ? evaluated_on_network(scenario, own, made).period
                        : Player(own, made).period(made.program);
}

double period_alone(const Scenario& scenario, const ScenarioProgram& made) {
  return Player(scenario, made).alone(programs::without_exchanges(made.program)).period;
}

OperationTimes recorded_times(const Scenario& scenario, const ScenarioProgram& made,
                              std::int64_t from) {
  return Player(scenario, made)
      .times(made.program, scenario.training.iterations, Record::all, from);
}

} // namespace stepsim::study
