// A program is evaluated twice: with its exchanges, and with exchanges that take no time, which is
// what computing alone takes. What lies between the two is exposed communication (TRN 2.6).
#include "run/run_program.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "program/event_pass.hpp"
#include "program/event_period.hpp"
#include "program/program_check.hpp"
#include "program/program_figures.hpp"
#include "program/rank_vectors.hpp"
#include "program/recurrence.hpp"
#include "program/steady_state.hpp"
#include "run/program_lists.hpp"
#include "run/run_figures.hpp"
#include "run/scenario_program.hpp"
#include "run/sharded_memory.hpp"
#include "run/step_summary.hpp"
#include "run/summary_fields.hpp"
#include "scenario/scenario_local.hpp"
#include "scenario/scenario_sharding.hpp"
#include "train/step/alone.hpp"

namespace stepsim::study {

namespace {

using program::Kind;
using program::Operation;
using program::OperationTimes;
using program::OperationType;
using program::Program;

// Instances that are recorded for the lists of a result, as doubles of 8 bytes, twice.
constexpr std::uint64_t kMostInstances = std::uint64_t{1} << 26;

program::Factors factors_of(const Scenario& scenario, const Program& made) {
  program::Factors factors;
  if (!scenario.variability.varies()) {
    return factors;
  }
  const train::Jitter jitter(scenario.variability, made.ranks);
  for (std::int64_t n = 1; n <= (scenario.training.iterations + 1) * made.steps; ++n) {
    for (std::uint32_t rank = 0; rank < made.ranks; ++rank) {
      factors.compute.push_back(jitter.compute(rank, n));
    }
    factors.exchange.push_back(jitter.exchange(n));
  }
  return factors;
}

// Equal ranks need one of them, and every group is that one.
Program one_rank(Program made) {
  made.ranks = 1;
  made.groups.clear();
  for (Operation& each : made.operations) {
    each.group = program::kAllRanks;
  }
  return made;
}

void check_instances(const Scenario& scenario, const Program& made) {
  const std::uint64_t ranks = scenario.variability.varies() ? made.ranks : 1;
  const std::int64_t iterations = scenario.training.iterations;
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
                        const program::Factors& factors, std::int64_t iterations) {
  const bool varies = scenario.variability.varies();
  if (!varies && program::recurrence_applies(made)) {
    return program::recurrence(made, iterations, factors, program::Record::all);
  }
  if (program::recurrence_applies(made)) {
    return program::rank_vectors(made, iterations, factors, {}, program::Record::all);
  }
  return program::event_pass(varies ? made : one_rank(made), iterations, factors,
                             program::Record::all);
}

// Per optimizer step.
double seconds_of(const Program& made, std::initializer_list<Kind> kinds) {
  double sum = 0;
  for (std::uint32_t o = 0; o < made.iteration_size(); ++o) {
    const Operation& each = made.operations[o];
    if (each.type == OperationType::compute && std::ranges::find(kinds, each.kind) != kinds.end()) {
      sum += each.seconds.value;
    }
  }
  return sum / made.steps;
}

// What a rank sends in a step.
double bytes_sent(const ScenarioProgram& made) {
  double sum = 0;
  for (std::uint32_t o = 0; o < made.program.iteration_size(); ++o) {
    const Operation& each = made.program.operations[o];
    if (each.type != OperationType::exchange || each.unit < 0) {
      continue;
    }
    const ProgramUnit& unit = made.units[static_cast<std::size_t>(each.unit)];
    switch (each.kind) {
    case Kind::allgather:
      sum += unit.gather.bytes_sent;
      break;
    case Kind::reduce_scatter:
      sum += unit.reduce.bytes_sent;
      break;
    default:
      sum += made.sharded ? unit.replicate.bytes_sent : unit.exchange.bytes_sent;
    }
  }
  return sum / made.program.steps;
}

// Start-up or data, whichever is more of all exchanges.
std::string bottleneck_of(const Program& made, const Summary& summary) {
  const double period = *summary.iteration_time_s;
  if (summary.straggler_wait_s.value_or(0) > kStragglerShare * period) {
    return "straggler";
  }
  if (!(*summary.exposed_communication_s > kHiddenShare * period)) {
    return "compute";
  }
  double startup = 0;
  double data = 0;
  for (std::uint32_t o = 0; o < made.iteration_size(); ++o) {
    startup += made.operations[o].startup.value;
    data += made.operations[o].data.value;
  }
  return startup > data ? "latency" : "bandwidth";
}

// The parts of the period that computing takes, as much longer as the slowest ranks are.
void fill_computing(const Scenario& scenario, const ScenarioProgram& made, double alone_s,
                    Summary& summary) {
  const Program& program = made.program;
  std::vector<BucketCost> costs;
  for (const ProgramUnit& unit : made.units) {
    costs.push_back(unit.cost);
  }
  fill_compression(scenario, costs, summary);
  const bool rounds = trains_in_rounds(scenario.training);
  summary.forward_s =
      rounds ? scenario.workload.forward().value : seconds_of(program, {Kind::forward});
  summary.backward_s =
      rounds ? scenario.workload.backward().value : seconds_of(program, {Kind::backward});
  const double select = seconds_of(program, {Kind::select});
  const double encode = seconds_of(program, {Kind::encode});
  double decode = 0; // done where the update happens
  for (const BucketCost& cost : costs) {
    decode += cost.decode_s;
  }
  const Training& training = scenario.training;
  const bool each = training.accumulation_exchange == AccumulationExchange::each;
  const double exchanges = each ? static_cast<double>(training.micro_batches) : 1;
  summary.codec_compute_s = encode + seconds_of(program, {Kind::decode}) + exchanges * decode;
  summary.update_s = rounds
                         ? training.update.value + seconds_of(program, {Kind::outer_update})
                         : std::max(0.0, seconds_of(program, {Kind::update}) - exchanges * decode);
  if (summary.compress_s) {
    for (const SummaryNumber part :
         {&Summary::select_s, &Summary::residual_s, &Summary::compress_s, &Summary::staging_s,
          &Summary::wire_s, &Summary::merge_s, &Summary::scatter_s}) {
      *(summary.*part) *= exchanges;
    }
  }
  const double nominal =
      *summary.forward_s + *summary.backward_s + *summary.update_s + *summary.codec_compute_s;
  constexpr double kRounding = 1e-12;
  const double slowest = nominal + select > 0 ? alone_s / (nominal + select) : 1;
  summary.compute_s = nominal;
  if (std::abs(slowest - 1) > kRounding) {
    for (const SummaryNumber part :
         {&Summary::forward_s, &Summary::backward_s, &Summary::update_s, &Summary::codec_compute_s,
          &Summary::compute_s, &Summary::select_s, &Summary::residual_s, &Summary::compress_s}) {
      if (summary.*part) {
        *(summary.*part) *= slowest;
      }
    }
  }
}

// A step of one worker alone: it trains with all micro-batches and updates all parameters.
double alone_seconds_of(const Scenario& scenario, std::int64_t discard, std::int64_t steps) {
  const Training& training = scenario.training;
  const auto batches = static_cast<double>(training.micro_batches);
  return train::alone_seconds({.forward_s = batches * scenario.workload.forward().value,
                               .backward_s = batches * scenario.workload.backward().value,
                               .update_s = training.update.value},
                              scenario.variability,
                              static_cast<std::uint32_t>(scenario.cluster.ranks()),
                              discard * steps + 1, training.iterations * steps);
}

// Where ranks differ: the mean time that each of them computes in a step.
void fill_workers(const Scenario& scenario, const Program& made, const program::Factors& factors,
                  std::int64_t discard, double alone_s, Result& result) {
  const auto steps = static_cast<std::size_t>(made.steps);
  std::vector<double> nominal(steps);
  for (std::uint32_t o = 0; o < made.iteration_size(); ++o) {
    nominal[static_cast<std::size_t>(made.operations[o].step)] += made.operations[o].seconds.value;
  }
  const auto first = static_cast<std::size_t>(discard) * steps;
  const auto end = static_cast<std::size_t>(scenario.training.iterations) * steps;
  double waits = 0;
  for (std::uint32_t rank = 0; rank < made.ranks; ++rank) {
    double sum = 0;
    for (std::size_t n = first; n < end; ++n) {
      sum += nominal[n % steps] * factors.compute[n * made.ranks + rank];
    }
    const double compute = sum / static_cast<double>(end - first);
    const double wait = std::max(0.0, alone_s - compute);
    result.workers.push_back({.worker = rank,
                              .compute_s = compute,
                              .straggler_wait_s = wait,
                              .transfer_s = *result.summary.communication_s});
    waits += wait;
  }
  result.summary.straggler_wait_s = waits / static_cast<double>(made.ranks);
}

// The mean of the iterations that are not discarded. The first one waits for no exchange of an
// iteration before it: where it counts, one iteration more follows and takes its place.
double mean_of(const Scenario& scenario, const Program& made, const program::Factors& factors,
               const OperationTimes& times) {
  const std::int64_t discard = discarded_iterations(scenario);
  if (discard > 0) {
    return program::mean_period(times, discard).value;
  }
  return program::mean_period(evaluate(scenario, made, factors, times.iterations + 1), 1).value;
}

void fill_rounds(const Scenario& scenario, const Program& made, const OperationTimes& times,
                 Summary& summary) {
  const LocalTraining& local = scenario.training.local;
  summary.outer_communication_s = exchange_seconds(made, times, times.iterations / 2, "outer");
  summary.local_steps = static_cast<double>(local.local_steps);
  summary.overlap_steps = static_cast<double>(local.overlap_steps);
  summary.outer_staleness_steps = summary.overlap_steps;
}

void add_warnings(const Scenario& scenario, const ScenarioProgram& made, Result& result) {
  add_common_warnings(scenario, made.plan, result);
  const bool empty =
      std::ranges::any_of(made.units, [](const ProgramUnit& unit) { return unit.parameters == 0; });
  if (made.sharded && empty) {
    result.warnings.emplace_back("units without parameters are neither gathered nor reduced");
  }
  if (std::string text = memory_warning(result.summary); !text.empty()) {
    result.warnings.push_back(std::move(text));
  }
}

} // namespace

Result run_program(const Scenario& scenario) {
  ScenarioProgram made = scenario_program(scenario);
  const Program& program = made.program;
  check_instances(scenario, program);
  const program::Factors factors = factors_of(scenario, program);
  const bool varies = scenario.variability.varies();
  const Program no_exchanges = program::without_exchanges(program);
  const std::int64_t iterations = scenario.training.iterations;
  OperationTimes times = evaluate(scenario, program, factors, iterations);
  const OperationTimes alone = evaluate(scenario, no_exchanges, factors, iterations);
  const std::int64_t discard = discarded_iterations(scenario);

  Result result;
  result.scenario = scenario;
  Summary& summary = result.summary;
  double period = 0;
  double alone_period = 0;
  if (varies || !program::recurrence_applies(program)) {
    const auto period_of = [&](const Program& each, const OperationTimes& simulated) {
      return varies ? mean_of(scenario, each, factors, simulated)
                    : program::event_period(one_rank(each)).period.value;
    };
    period = period_of(program, times);
    alone_period = period_of(no_exchanges, alone);
    result.method = coll::name(std::max(made.method, program::recurrence_applies(program)
                                                         ? coll::Method::max_plus
                                                         : coll::Method::events));
  } else {
    period = program::steady_state(program).period.value;
    alone_period = program::steady_state(no_exchanges).period.value;
    result.method = coll::name(made.method);
  }
  if (program.interference.any()) {
    Program free = program;
    free.interference = {};
    const double free_period =
        varies ? mean_of(scenario, free, factors, evaluate(scenario, free, factors, iterations))
               : program::event_period(one_rank(free)).period.value;
    summary.interference_s = std::max(0.0, period - free_period);
  }
  constexpr double kRounding = 1e-12;
  const double exposed = period - alone_period < kRounding * period ? 0 : period - alone_period;
  const double steps = program.steps;
  summary.iteration_time_s = period / steps;
  summary.period_s = period;
  summary.steps = steps;
  summary.utilization = period > 0 ? (period - exposed) / period : 1;
  fill_computing(scenario, made, (period - exposed) / steps, summary);
  fill_communication(exchange_seconds(program, times, times.iterations / 2) / steps,
                     exposed / steps, summary);
  summary.input_wait_s = 0;
  summary.straggler_wait_s = 0;
  summary.makespan_s = times.makespan_s;
  summary.wire_bytes = bytes_sent(made);
  if (varies) {
    fill_workers(scenario, program, factors, discard, (period - exposed) / steps, result);
  }
  fill_speedup(scenario, alone_seconds_of(scenario, discard, program.steps), period / steps,
               summary);
  if (summary.samples_per_s) {
    *summary.samples_per_s *= static_cast<double>(scenario.training.micro_batches);
  }
  if (scenario.training.sharding.strategy != ShardingStrategy::none) {
    fill_memory(scenario, made, times, summary);
  }
  if (trains_in_rounds(scenario.training)) {
    fill_rounds(scenario, program, times, summary);
  }
  if (made.sharded) {
    summary.units = static_cast<double>(made.units.size());
    summary.certified = made.certified;
  }
  summary.bottleneck = bottleneck_of(program, summary);
  result.events = made.events;
  result.iterations = program_iterations(program, times, alone);
  // Iterations begin with their update or merge, the first one too: with that of the tail there
  // would be one more than iterations.
  if (program.tail_operations > 0) {
    summary.makespan_s = 0;
    for (const Iteration& each : result.iterations) {
      summary.makespan_s = std::max({*summary.makespan_s, each.compute_end_s, each.exchange_end_s});
    }
  }
  result.buckets = program_buckets(scenario, made, times);
  result.units = program_units(made, times);
  result.layers = program_layers(scenario, made, times);
  fill_interval(scenario, result);
  add_warnings(scenario, made, result);
  result.program = ProgramRun{.program = std::move(made.program), .times = std::move(times)};
  return result;
}

} // namespace stepsim::study
