// What an evaluated program becomes in a result: the summary, lists of iterations, buckets and
// units, and on a simulated network what became of its messages.
#include "run/run_program.hpp"

#include "programs/event_pass.hpp"
#include "run/network_figures.hpp"
#include "run/planned_messages.hpp"
#include "run/run_figures.hpp"
#include "run/summary_fields.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

// Each communicator has the whole bandwidth by itself where messages are not simulated.
void warn_of_shared_links(const Scenario& scenario, const ScenarioProgram& made, double period,
                          Result& result) {
  const Sharding& sharding = scenario.training.sharding;
  if (!has_units(sharding) || sharding.communicators == 1) {
    return;
  }
  double data = 0;
  for (std::uint32_t o = 0; o < made.program.iteration_size(); ++o) {
    const programs::Operation& each = made.program.operations[o];
    const bool elsewhere =
        each.kind == programs::Kind::allreduce && !shards_span_nodes(scenario); // of replicas
    data += elsewhere ? 0 : each.data.value;
  }
  if (data > period * (1 + 1e-9)) {
    result.warnings.push_back(
        fmt::format("shared_links: the exchanges of both communicators keep the links busy for {}, "
                    "longer than the step of {}, because alpha_beta gives each of them the whole "
                    "bandwidth; network model flow shares it",
                    base::readable_seconds(data), base::readable_seconds(period)));
  }
}

void add_warnings(const Scenario& scenario, const ScenarioProgram& made,
                  const EvaluatedProgram& found, Result& result) {
  add_common_warnings(scenario, made.plan, result);
  result.warnings.insert(result.warnings.end(), made.estimates.begin(), made.estimates.end());
  if (!found.network) {
    warn_of_shared_links(scenario, made, found.period, result);
  }
  if (has_server_rounds(scenario) && !made.each) {
    result.warnings.push_back(
        "method " + std::string(collectives::name(*scenario.method)) +
        ": every exchange starts when the last worker is ready; method auto times each push as it "
        "comes to the server, which differs where workers do");
  }
  const bool empty =
      std::ranges::any_of(made.units, [](const ProgramUnit& unit) { return unit.parameters == 0; });
  if (made.sharded && empty) {
    result.warnings.emplace_back("units without parameters are neither gathered nor reduced");
  }
}

// On a network every exchange lasts as long as it did in the last iteration.
void measure_exchanges(ScenarioProgram& made, const programs::OperationTimes& times) {
  for (std::uint32_t o = 0; o < made.program.iteration_size(); ++o) {
    const programs::Operation& each = made.program.operations[o];
    if (const ExchangeMember member = exchange_member(made, each)) {
      (made.units[static_cast<std::size_t>(each.unit)].*member).seconds = last_seconds(times, o);
    }
  }
}

// The rule of a program with the exchanges of `made`, which end when those did in its times.
programs::EachRule same_ends(const ScenarioProgram& made, const programs::OperationTimes& times) {
  std::vector<double> ends; // in the order of their stream
  for (std::int64_t t = 0; t < times.iterations; ++t) {
    for (const TimedExchange& each : made.timed) {
      ends.push_back(times.end[times.at(t, each.operation, 0)]);
    }
  }
  return [ends = std::move(ends), next = std::size_t{0}](
             const programs::Operation&, double, std::span<const double>,
             std::span<double> leave_s) mutable { std::ranges::fill(leave_s, ends[next++]); };
}

// Brings what is known of the scenario's program up to date; `like` as for retime().
void renew(const Scenario& scenario, bool simulated, MadeFor made_for, const ProgramMemory* like,
           ProgramMemory& memory) {
  const std::uint64_t seed = scenario.variability.seed;
  const std::uint32_t ranks = memory.made ? memory.made->program.ranks : 0;
  const bool as_fast = memory.computing == scenario.conditions.computing;
  const bool retimed = memory.made && retime(scenario, made_for, like, memory);
  memory.computing = scenario.conditions.computing;
  memory.links = scenario.conditions.links;
  if (!retimed) {
    const bool planned = memory.made && memory.made->is_planned;
    ScenarioProgram made = planned ? *std::move(memory.made) : ScenarioProgram{};
    memory.made.reset(); // in case of an error
    // Lists of a run on a network have the times of its one simulation.
    memory.made = scenario_program(scenario, simulated, simulated ? MadeFor::lists : made_for,
                                   std::move(made));
    memory.made->window = window_of(scenario, memory.made->program);
  }
  const bool drawn_anew =
      scenario.variability.varies() && (memory.seed != seed || memory.made->program.ranks != ranks);
  const bool shared_anew = memory.made->program.ranks != ranks && scenario.training.sharding.any();
  if (!retimed || !as_fast || drawn_anew || shared_anew) {
    memory.alone.reset();
    memory.single_s.reset();
    memory.compute_s.reset();
  }
  if (!retimed || !as_fast) {
    memory.sums.reset();
  }
  if (!retimed || shared_anew ||
      scenario.communication.has_servers()) { // whose number may be that of machines
    memory.parts.reset();
  }
  if (!retimed || drawn_anew) {
    memory.seed = seed;
    const programs::Program& made = memory.made->program;
    // One iteration more than the run has may take the place of the first one in means.
    memory.made->factors = factors_of(
        scenario, made, scenario.training.iterations + 1 + programs::iterations_after(made));
  }
}

std::optional<Scenario> first_of_jobs(const Scenario& whole) {
  return whole.other_jobs.empty() ? std::nullopt : std::optional(scenario_of_job(whole, 0));
}

// The period of a scenario without exchanges and without input_s.
double computing_period(const Scenario& scenario) {
  Scenario dry = scenario;
  dry.training.input = {};
  ProgramMemory memory;
  renew(dry, simulates_messages(dry), MadeFor::figures, nullptr, memory);
  return period_alone(dry, *memory.made);
}

Result run_once(const Scenario& whole, Detail detail, ProgramMemory& known) {
  const std::optional<Scenario> part = first_of_jobs(whole);
  const Scenario& scenario = part ? *part : whole;
  renew(scenario, simulates_messages(whole), MadeFor::figures, nullptr, known);
  ScenarioProgram& made = *known.made;
  const programs::Program& program = made.program;
  const bool varies = scenario.variability.varies();
  const std::int64_t discard = discarded_iterations(scenario);
  const Window& window = made.window;
  const bool lists = detail != Detail::summary;
  const bool of_all = lists || made.each || applies_late(scenario.training.algorithm) ||
                      trains_in_rounds(scenario.training) || scenario.training.sharding.any();
  EvaluatedProgram found =
      evaluated(whole, scenario, made,
                of_all ? programs::Record::all : programs::Record::first_rank, known.alone);
  programs::OperationTimes& times = found.times;
  const double period = found.period;

  Result result;
  if (lists || found.network) {
    result.scenario = whole;
  }
  result.method = found.method;
  result.exchange_method = made.method;
  Summary& summary = result.summary;
  constexpr double kRounding = 1e-12;
  const auto beyond = [&](double whole_s, double part_s) {
    return whole_s - part_s < kRounding * period ? 0 : whole_s - part_s;
  };
  const double exposed = beyond(found.steady, found.alone.period);
  const double alone = std::min(found.steady, found.alone.period);
  const double computing =
      scenario.training.input.value > 0 ? std::min(alone, computing_period(scenario)) : alone;
  const double input_wait = beyond(alone, computing);
  const double steps = program.steps;
  if (found.interference) {
    summary.interference_s = *found.interference / steps;
  }
  summary.iteration_time_s = period / steps;
  summary.period_s = found.steady;
  summary.steps = steps;
  summary.utilization = found.steady > 0 ? (found.steady - exposed) / found.steady : 1;
  if (!known.sums) {
    known.sums.emplace(scenario);
  }
  fill_computing(scenario, made, *known.sums, found.alone, computing / steps,
                 std::min(computing, found.unselected) / steps, summary);
  // Pulls from a server on a worker's host may slow the last push, which takes longer than alone.
  // Waiting for a tick is exposed, too, but nothing is sent meanwhile.
  const bool slowed = made.each && scenario.communication.schedule != buckets::Schedule::horovod;
  const double communication =
      std::max(found.communication_s + wait_of_step(scenario).value * steps, slowed ? exposed : 0);
  fill_communication(communication / steps, exposed / steps, summary);
  summary.input_wait_s = input_wait / steps;
  summary.straggler_wait_s = 0;
  summary.makespan_s = times.makespan_s;
  summary.wire_bytes = bytes_sent(made);
  if (varies) {
    if (!known.compute_s) {
      known.compute_s = mean_compute_s(made);
    }
    fill_workers(*known.compute_s, computing / steps, lists, result);
  }
  if (!known.single_s) {
    known.single_s = alone_seconds(scenario, (window.from + 1) * program.steps,
                                   (window.to + 1) * program.steps - 1);
  }
  fill_speedup(scenario, *known.single_s, period / steps, summary);
  if (summary.samples_per_s) {
    *summary.samples_per_s *= static_cast<double>(scenario.training.micro_batches);
  }
  if (trains_in_rounds(scenario.training)) {
    fill_rounds(scenario, found, summary);
  }
  fill_memory(scenario, made, times, known.parts, summary);
  if (made.sharded) {
    summary.units = static_cast<double>(made.units.size());
    summary.certified = made.certified;
  }
  fill_bound(scenario, made, *known.sums, found, result);
  if (!part && has_merge_figures(scenario)) {
    fill_greedy(scenario, made.problem, made.plan, summary);
    if (lists) {
      fill_optimum(scenario, summary);
    }
  }
  summary.bottleneck = program_bottleneck(scenario, made, found, summary);
  result.events = made.each && lists
                      ? static_cast<std::uint64_t>(times.iterations) * round_events(scenario, made)
                      : made.events;
  if (found.network) {
    measure_exchanges(made, times);
  }
  // Iterations begin with their update or merge, the first one too: with that of the tail there
  // would be one more than iterations. Nor does a run wait for a batch that it does not use.
  const bool ends_before_tail = program.tail_operations > 0 || scenario.training.input.value > 0;
  if (lists || scenario.variability.random() || found.network) {
    result.iterations = program_iterations(times.iterations, found.ends, found.alone.ends);
    if (lists || found.network) {
      add_spans(program, times, result.iterations);
    }
  }
  if (scenario.training.algorithm == TrainingAlgorithm::pipe_sgd) {
    fill_pipeline(scenario, made, times, result);
  } else if (applies_late(scenario.training.algorithm)) {
    fill_delays(program, times.iterations, result);
  }
  if (ends_before_tail) {
    summary.makespan_s = latest_work_end_s(program, times);
  }
  if (found.network) {
    fill_network(whole, scenario, *found.network, discard, result);
  }
  fill_closed_form(scenario, made.plan, result);
  fill_interval(scenario, result);
  add_warnings(scenario, made, found, result);
  if (!lists) {
    return result;
  }
  if (made.made_for != MadeFor::lists) {
    const std::int64_t untimed = std::max<std::int64_t>(0, times.iterations - kTimedIterations);
    ScenarioProgram listed = scenario_program(scenario);
    listed.each = made.each ? same_ends(made, times) : programs::EachRule();
    listed.factors = std::move(made.factors);
    made = std::move(listed);
    times = recorded_times(scenario, made, detail == Detail::all ? untimed : 0);
  }
  result.buckets = program_buckets(scenario, made, times);
  if (!found.network && !accumulates_or_shards(scenario) && !trains_in_rounds(scenario.training)) {
    fill_links(scenario, made.units, result); // one exchange per bucket and iteration
  }
  result.units = program_units(made, times);
  result.layers = program_layers(scenario, made, times);
  result.program = ProgramRun{.program = std::move(made.program), .times = std::move(times)};
  return result;
}

} // namespace

// Against an update of all parameters, sharding would look like a gain in computing that
// hides exposed communication.
double alone_seconds(const Scenario& scenario, std::int64_t first, std::int64_t last) {
  const Training& training = scenario.training;
  const bool shards = training.sharding.any();
  const auto batches = static_cast<double>(training.micro_batches);
  const double computing = batches * scenario.conditions.alone;
  const double forward = computing * scenario.workload.forward().value;
  const double backward = computing * scenario.workload.backward().value;
  const double update = training.update.value / (shards ? shard_count(scenario) : 1);
  const double input = batches * training.input.value;
  const auto step_s = [&](double factor) {
    const double busy = factor * backward + factor * forward;
    return (training.input_pipelined ? std::max(busy, input) : busy + input) + factor * update;
  };
  const layers::Jitter jitter = jitter_of(scenario);
  if (scenario.variability.compute_cv <= 0) {
    return step_s(jitter.fastest());
  }
  double sum = 0;
  for (std::uint32_t w = 0; w < jitter.workers(); ++w) {
    const double pace = jitter.fastest() / jitter.straggler(w);
    for (std::int64_t t = first + 1; t <= last + 1; ++t) {
      sum += step_s(pace * jitter.compute(w, t));
    }
  }
  return sum / (static_cast<double>(jitter.workers()) * static_cast<double>(last - first + 1));
}

double program_period(const Scenario& whole, ProgramMemory* memory, const ProgramMemory* like) {
  if (whole.training.async()) {
    return step_of(run_async_server(whole).summary);
  }
  if (searches_width(whole)) {
    return program_period(with_best_width(whole));
  }
  if (searches_merge(whole)) {
    return fastest_merge(whole, memory).period_s;
  }
  if (memory == nullptr) {
    ProgramMemory own;
    return program_period(whole, &own, like);
  }
  const Communication& communication = whole.communication;
  const buckets::Schedule merge = communication.merge_of.value_or(communication.schedule);
  constexpr std::size_t kFew = 32; // buckets: a program that keeps them is retimed in less
  const bool kept = like != nullptr && like->made && !buckets::planner(merge).reads_cost;
  if (!(kept && like->made->plan.groups.size() < kFew) && StepPeriod::is_for(whole)) {
    const bool timed = kept && like->links == whole.conditions.links &&
                       like->made->program.ranks == whole.cluster.ranks();
    if (const auto period =
            StepPeriod(whole, memory->step(), timed ? &*like->made : nullptr)(merge)) {
      return *period;
    }
  }
  const std::optional<Scenario> part = first_of_jobs(whole);
  const Scenario& scenario = part ? *part : whole;
  renew(scenario, simulates_messages(whole), MadeFor::period, like, *memory);
  return evaluated_period(whole, scenario, *memory->made) / memory->made->program.steps;
}

Result run_program(const Scenario& scenario, Detail detail, ProgramMemory* memory) {
  if (scenario.training.async()) {
    return run_async_server(scenario);
  }
  const bool by_width = searches_width(scenario);
  if (by_width || searches_merge(scenario)) {
    Scenario chosen = by_width ? with_best_width(scenario) : scenario;
    if (!by_width) {
      chosen.communication.merge_of = fastest_merge(scenario, memory).merge;
    }
    Result result = run_program(chosen, detail, by_width ? nullptr : memory);
    if (by_width) {
      const std::int64_t width = *chosen.training.pipeline_width;
      result.warnings.insert(result.warnings.begin(),
                             "pipeline_width optimal: " + std::to_string(width) + ", staleness " +
                                 std::to_string(width - 1) + "; accuracy is not modelled");
    }
    if (result.scenario) {
      result.scenario = scenario;
    }
    return result;
  }
  if (memory != nullptr && detail == Detail::summary) {
    return run_once(scenario, detail, *memory);
  }
  ProgramMemory fresh;
  return run_once(scenario, detail, fresh);
}

} // namespace stepsim::study
