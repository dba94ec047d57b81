// Every training algorithm has one row: which scenarios are its own, when it has no program, and
// the builder.
#include "run/scenario_program.hpp"

#include "programs/builders/step_programs.hpp"
#include "run/group_exchange.hpp"
#include "run/network_figures.hpp"
#include "run/planned_messages.hpp"
#include "run/run_program.hpp"
#include "run/sharding_plan.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

const buckets::Planner& planner_of(const Scenario& scenario) {
  return buckets::planner(scenario.communication.schedule);
}

bool sends_one_at_a_time(const Scenario& scenario) {
  return planner_of(scenario).one_channel(scenario.communication.schedule_options);
}

std::string no_sync_program(const Scenario& scenario) {
  const bool halves =
      scenario.communication.reduce_broadcast || planner_of(scenario).gathers_back();
  if (scenario.training.micro_batches > 1 && halves) {
    return "a program of exchanges in two halves has one micro-batch";
  }
  return "";
}

// How the stream of the schedule takes its messages.
programs::Stream stream_of(const Scenario& scenario) {
  const buckets::ScheduleOptions& options = scenario.communication.schedule_options;
  programs::Stream stream{.name = "reduce"};
  if (scenario.communication.has_servers() && simulates_messages(scenario)) {
    return stream; // servers and workers have queues of their own
  }
  if (planner_of(scenario).send == buckets::planner(buckets::Schedule::priority).send) {
    stream.discipline = programs::Discipline::priority;
    stream.credit_bytes = options.credit_bytes.value;
  } else if (planner_of(scenario).shares_channel(options)) {
    stream.discipline = programs::Discipline::at_once;
    stream.concurrency = static_cast<std::int32_t>(options.concurrency);
    stream.shares = options.channel_shares;
    stream.contention = options.contention;
  }
  return stream;
}

// Whether the next forward begins behind all exchanges: at a barrier, or because the last one of a
// channel that carries one at a time is that of the first layer.
bool waits_for_all(const Scenario& scenario, const ProgramParts& parts) {
  const Training& training = scenario.training;
  const bool in_line = training.algorithm == TrainingAlgorithm::sync_sgd &&
                       (training.micro_batches == 1 ||
                        training.accumulation_exchange == AccumulationExchange::last) &&
                       !scenario.communication.reduce_broadcast &&
                       !planner_of(scenario).gathers_back() &&
                       stream_of(scenario).discipline == programs::Discipline::fifo;
  return parts.next_forward == programs::NextForward::barrier ||
         (in_line && !parts.buckets.empty() && programs::lowest_layer(parts.buckets.back()) == 0);
}

// The parts that `make` makes, with merged layers where `out` asks for them.
ProgramParts parts_of(const Scenario& scenario, ScenarioProgram& out,
                      ProgramParts (*make)(const Scenario&, ScenarioProgram&)) {
  const auto& slowdown = scenario.training.overlap.compute;
  const bool alike = slowdown[static_cast<std::size_t>(programs::Kind::update)] ==
                     slowdown[static_cast<std::size_t>(programs::Kind::forward)];
  ProgramParts parts = make(scenario, out);
  // Reading lasts longer by the updates between forwards, which vary with their worker.
  const bool reads_between = scenario.training.input.value > 0 && scenario.variability.varies();
  if (out.made_for != MadeFor::lists && !reads_between) {
    const bool one_forward = make == allreduced_parts && waits_for_all(scenario, parts);
    parts.next_forward = one_forward ? programs::NextForward::barrier : parts.next_forward;
    parts = with_merged_layers(std::move(parts), alike, one_forward);
    out.one_forward = std::ranges::any_of(parts.layers, &programs::LayerTimes::forward_before);
  }
  out.layer_of = parts.layer_of;
  return parts;
}

programs::Program make_sync(const Scenario& scenario, ScenarioProgram& out) {
  const ProgramParts parts = parts_of(scenario, out, allreduced_parts);
  if (planner_of(scenario).gathers_back() && !parts.buckets.empty()) {
    const bool ahead = scenario.communication.schedule_options.prefetch == buckets::Prefetch::one;
    return programs::dear_program(
        parts.layers, parts.buckets,
        {.update = parts.update,
         .prefetch = ahead ? programs::GatherPrefetch::one : programs::GatherPrefetch::all,
         .next_forward = parts.next_forward});
  }
  if (scenario.communication.reduce_broadcast && !parts.buckets.empty()) {
    return programs::reduce_broadcast_program(parts.layers, parts.buckets, parts.update,
                                              parts.next_forward);
  }
  return programs::sync_sgd_program(
      parts.layers, parts.buckets,
      {.update = parts.update,
       .next_forward = parts.next_forward,
       .micro_batches = static_cast<std::uint32_t>(scenario.training.micro_batches),
       .exchange_each = scenario.training.accumulation_exchange == AccumulationExchange::each,
       .reduce = stream_of(scenario),
       .stream_each = out.simulated && scenario.communication.has_servers()});
}

// The optimizer of a rank updates its share of the parameters.
programs::Program make_zero(const Scenario& scenario, ScenarioProgram& out) {
  const ProgramParts parts = parts_of(scenario, out, scattered_parts);
  const Sharding& sharding = scenario.training.sharding;
  std::vector<programs::ExchangeTime> broadcasts = base::collected_if<programs::ExchangeTime>(
      out.units, &ProgramUnit::owner, [](const ProgramUnit& unit) { return unit.gather.time; });
  return programs::zero_program(
      parts.layers, parts.buckets,
      {.stage = sharding.strategy == ShardingStrategy::zero2 ? 2U : 1U,
       .micro_batches = static_cast<std::uint32_t>(scenario.training.micro_batches),
       .update = parts.update,
       .shards = shard_count(scenario),
       .encode = encode_seconds(scenario, out.units),
       .gather = sharding.gather,
       .broadcasts = std::move(broadcasts)});
}

std::string no_late_program(const Scenario& scenario) {
  const std::string program =
      "a program of " + std::string(kTrainingAlgorithms[scenario.training.algorithm]);
  return sends_one_at_a_time(scenario) ? "" : program + " sends one message at a time";
}

std::string no_pipe_program(const Scenario& scenario) {
  if (!scenario.training.pipeline_width) {
    return "a program needs a number in place of optimal: --set /training/pipeline_width=2; run "
           "tells which is optimal";
  }
  const bool in_step = *scenario.training.pipeline_width == 1;
  return in_step && sends_one_at_a_time(scenario) ? "" : no_late_program(scenario);
}

programs::Program make_pipe(const Scenario& scenario, ScenarioProgram& out) {
  const ProgramParts parts = parts_of(scenario, out, allreduced_parts);
  // One worker without exchanges has nothing to run ahead of.
  const bool sends = std::ranges::any_of(parts.buckets, [](const programs::BucketTimes& bucket) {
    return bucket.reduce.startup.value + bucket.reduce.data.value > 0;
  });
  const bool alone = scenario.cluster.ranks() == 1 && !sends;
  const std::int64_t width = alone ? 1 : *scenario.training.pipeline_width;
  const Training& training = scenario.training;
  const bool block = training.warmup_switch == programs::WarmupSwitch::block;
  const std::int64_t synchronous =
      training.warmup_iterations + (block && training.warmup_iterations > 0 ? 2 : 0);
  return programs::pipe_sgd_program(parts.layers, parts.buckets,
                                    {.update = parts.update,
                                     .width = static_cast<std::int32_t>(width),
                                     .synchronous_first = static_cast<std::uint32_t>(synchronous)});
}

programs::Program make_od(const Scenario& scenario, ScenarioProgram& out) {
  const ProgramParts parts = parts_of(scenario, out, allreduced_parts);
  return programs::od_sgd_program(parts.layers, parts.buckets, parts.update,
                                  scenario.training.update);
}

std::string no_obstacle(const Scenario&) { return ""; }

std::string no_server_program(const Scenario& scenario) {
  if (scenario.training.async()) {
    return "asynchronous servers have no program; --set /training/mode=sync has one";
  }
  return no_sync_program(scenario);
}

bool is_none(const Scenario& scenario) { return !scenario.training.sharding.any(); }

struct ProgramRow {
  TrainingAlgorithm algorithm;
  bool (*is_for)(const Scenario&);
  std::string (*refusal)(const Scenario&); // empty where `make` can
  programs::Program (*make)(const Scenario&, ScenarioProgram&);
  void (*time)(const Scenario&, ScenarioProgram&); // the exchanges
};
constexpr std::array kPrograms{
    ProgramRow{TrainingAlgorithm::sync_sgd, is_none, no_sync_program, make_sync, time_buckets},
    ProgramRow{TrainingAlgorithm::sync_sgd,
               [](const Scenario& scenario) { return has_units(scenario.training.sharding); },
               no_obstacle, make_sharded_units, time_shards},
    ProgramRow{TrainingAlgorithm::sync_sgd, [](const Scenario&) { return true; }, no_obstacle,
               make_zero, time_shards},
    ProgramRow{TrainingAlgorithm::pipe_sgd, is_none, no_pipe_program, make_pipe, time_buckets},
    ProgramRow{TrainingAlgorithm::od_sgd, is_none, no_late_program, make_od, time_buckets},
    ProgramRow{TrainingAlgorithm::parameter_server, is_none, no_server_program, make_sync,
               time_buckets},
    ProgramRow{TrainingAlgorithm::local_sgd, is_none, no_obstacle, make_rounds, time_rounds},
    ProgramRow{TrainingAlgorithm::diloco, is_none, no_obstacle, make_rounds, time_rounds},
    ProgramRow{TrainingAlgorithm::easgd, is_none, no_obstacle, make_rounds, time_rounds}};

const ProgramRow& row_of(const Scenario& scenario) {
  return *std::ranges::find_if(kPrograms, [&](const ProgramRow& row) {
    return row.algorithm == scenario.training.algorithm && row.is_for(scenario);
  });
}

// Layers of exchanges, which builders know as buckets.
void label_layers(const std::vector<ProgramUnit>& units, programs::Program& program) {
  for (programs::Operation& operation : program.operations) {
    if (operation.unit >= 0 && operation.first_layer < 0) {
      const ProgramUnit& unit = units[static_cast<std::size_t>(operation.unit)];
      if (!unit.layers.empty()) {
        operation.first_layer = static_cast<std::int32_t>(unit.layers.front());
        operation.last_layer = static_cast<std::int32_t>(unit.layers.back());
      }
    }
  }
}

} // namespace

std::string why_no_program(const Scenario& scenario) {
  return !scenario.other_jobs.empty()
             ? "several jobs have no program in common; give the file of one of them"
         : simulates_messages(scenario)
             ? "a program has no messages that go through a simulated network one by one; --set "
               "/cluster/network/model=alpha_beta gives it one"
         : needs_server_rounds(scenario)
             ? "servers that take the pushes of workers one by one have no program; --method "
               "max_plus estimates them with one"
             : row_of(scenario).refusal(scenario);
}

ExchangeMember exchange_member(const ScenarioProgram& made, const programs::Operation& operation) {
  if (operation.type != programs::OperationType::exchange || operation.unit < 0) {
    return nullptr;
  }
  switch (operation.kind) {
  case programs::Kind::allgather:
  case programs::Kind::broadcast:
    return &ProgramUnit::gather;
  case programs::Kind::reduce_scatter:
  case programs::Kind::reduce:
    return &ProgramUnit::reduce;
  default:
    return made.sharded ? &ProgramUnit::replicate : &ProgramUnit::exchange;
  }
}

programs::Factors factors_of(const Scenario& scenario, const programs::Program& program,
                             std::int64_t iterations) {
  programs::Factors factors;
  if (!scenario.variability.varies()) {
    return factors;
  }
  constexpr double kMostFactors = 1 << 28; // doubles of 8 bytes
  const double steps = static_cast<double>(iterations) * program.steps;
  if (steps * program.ranks > kMostFactors) {
    throw SimulationError("random factors of " + std::to_string(program.ranks) + " ranks in " +
                          std::to_string(static_cast<std::int64_t>(steps)) +
                          " steps are too many; lower iterations");
  }
  const layers::Jitter jitter(scenario.variability, program.ranks);
  for (std::int64_t n = 1; n <= iterations * program.steps; ++n) {
    for (std::uint32_t rank = 0; rank < program.ranks; ++rank) {
      factors.compute.push_back(jitter.compute(rank, n));
    }
    factors.exchange.push_back(jitter.exchange(n));
  }
  return factors;
}

ScenarioProgram scenario_program(const Scenario& scenario, bool simulated, MadeFor made_for,
                                 ScenarioProgram out) {
  if (const std::string reason = row_of(scenario).refusal(scenario); !reason.empty()) {
    throw SimulationError(reason);
  }
  out.simulated = simulated;
  out.made_for = made_for;
  out.program = row_of(scenario).make(scenario, out);
  const Training& training = scenario.training;
  const Seconds wait = wait_of_step(scenario);
  if (training.input.value > 0 || wait.value > 0) {
    out.program = programs::with_pauses(out.program, {.input = training.input,
                                                      .pipelined = training.input_pipelined,
                                                      .wait = wait,
                                                      .gathers = has_units(training.sharding)});
  }
  out.program.interference = scenario.training.overlap;
  out.program.ranks = static_cast<std::uint32_t>(scenario.cluster.ranks());
  if (made_for == MadeFor::lists) {
    label_layers(out.units, out.program);
  }
  out.each = server_rule(scenario, out);
  for (std::uint32_t o = 0; o < out.program.operations.size(); ++o) {
    programs::Operation& each = out.program.operations[o];
    const ExchangeMember member = exchange_member(out, each);
    const auto unit = static_cast<std::uint32_t>(each.unit);
    if (member && !(out.sharded && out.units[unit].parameters == 0)) { // nothing takes no time
      each.entry = out.each ? programs::Entry::each : programs::Entry::together;
      out.timed.push_back({o, out.like(unit), member});
    }
  }
  count_exchanges(out);
  programs::check(out.program, scenario.name);
  out.layout = programs::layout_of(out.program);
  out.seconds = programs::durations_of(out.program);
  if (out.sharded) {
    out.live = programs::live_spans(out.program);
    out.parameters = parameters_of(out.units);
    out.live_changes = {out.live, unit_bytes(scenario, out.units)};
  }
  return out;
}

void count_exchanges(ScenarioProgram& made) {
  std::vector<CountedExchange> all;
  std::ranges::sort(made.timed, {}, &TimedExchange::operation);
  for (const TimedExchange& each : made.timed) {
    if (each.operation < made.program.iteration_size()) {
      all.push_back({each.unit, each.member, 1});
    }
  }
  std::ranges::stable_sort(all, {}, &CountedExchange::unit);
  made.counted.clear();
  for (const CountedExchange& each : all) {
    const auto other =
        std::find_if(made.counted.rbegin(), made.counted.rend(), [&](const auto& of) {
          return of.unit != each.unit || of.member == each.member;
        });
    if (other != made.counted.rend() && other->unit == each.unit) {
      ++other->count;
    } else {
      made.counted.push_back(each);
    }
  }
  if (!made.each) {
    std::ranges::stable_sort(made.timed, {}, [](const TimedExchange& each) {
      return std::pair(each.unit, each.member == &ProgramUnit::gather);
    });
  }
}

void time_exchanges(const Scenario& scenario, ScenarioProgram& made) {
  row_of(scenario).time(scenario, made);
  made.each = server_rule(scenario, made);
  programs::Operation* const operations = made.program.operations.data();
  double* const seconds = made.seconds.data();
  const auto end = made.timed.end();
  for (auto each = made.timed.begin(); each != end;) {
    const auto [unit, member] = std::pair(each->unit, each->member);
    const programs::ExchangeTime time = (made.units[unit].*member).time;
    const double whole = time.startup.value + time.data.value;
    do {
      programs::Operation& operation = operations[each->operation];
      operation.startup = time.startup;
      operation.data = time.data;
      seconds[each->operation] = whole;
    } while (++each != end && each->unit == unit && each->member == member);
  }
}

} // namespace stepsim::study
