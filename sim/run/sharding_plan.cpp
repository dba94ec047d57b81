// The planner asks for the times of every run of layers or blocks: O(parts^2) sizes, each evaluated
// once.

#include "run/sharding_plan.hpp"

#include "buckets/unit_search.hpp"
#include "programs/event_pass.hpp"
#include "run/group_exchange.hpp"
#include "run/memory_figures.hpp"
#include "run/network_figures.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

double all_parameters(const Scenario& scenario) {
  const std::vector<std::int64_t> layers = layers::layer_parameters(scenario.workload);
  return static_cast<double>(std::accumulate(layers.begin(), layers.end(), std::int64_t{0}));
}

// The exchange of a unit by its parameters.
using ExchangeOf = std::function<programs::ExchangeTime(std::int64_t parameters)>;

// Has `bytes` of each parameter after padding.
ExchangeOf unit_exchange(const Scenario& scenario, RankGroup group, collectives::Op op,
                         double bytes) {
  const auto exchanges = std::make_shared<GroupExchanges>(scenario, group, op);
  return [exchanges, bytes, shards = shard_ranks(scenario)](std::int64_t parameters) {
    return exchanges->times(bytes * static_cast<double>(padded(parameters, shards))).time;
  };
}

buckets::UnitCost seconds_of(const ExchangeOf& exchange) {
  return [exchange](std::int64_t parameters) {
    const programs::ExchangeTime time = exchange(parameters);
    return time.startup.value + time.data.value;
  };
}

// The program of a division but for its layers.
struct UnitProgram {
  programs::FsdpOptions options;
  ExchangeOf gather, reduce, replicate{}; // replicate: empty without replicas
  std::function<Seconds(std::int64_t parameters)> decode;
  programs::Interference interference;
};

// The period of one division by the program itself. Everything of an iteration waits for the update
// before it, so that the first iteration lasts a period.
double program_period(const buckets::UnitProblem& problem, const UnitProgram& of,
                      const buckets::Cuts& cuts) {
  std::vector<programs::UnitTimes> units;
  std::size_t layer = 0;
  for (std::size_t u = 0; u <= cuts.size(); ++u) {
    programs::UnitTimes& unit = units.emplace_back();
    const std::size_t end = u < cuts.size() ? cuts[u] : problem.layers.size();
    std::int64_t parameters = 0;
    for (; layer < end; ++layer) {
      unit.forward += problem.layers[layer].forward;
      unit.backward += problem.layers[layer].backward;
      parameters += problem.layers[layer].parameters;
    }
    unit.parameters = parameters > 0;
    if (unit.parameters) {
      unit.gather = of.gather(parameters);
      unit.reduce = of.reduce(parameters);
      unit.replicate = of.replicate ? of.replicate(parameters) : programs::ExchangeTime{};
      unit.decode = of.decode(parameters);
    }
  }
  programs::Program made = programs::fsdp_program(units, of.options);
  made.interference = of.interference;
  return (programs::recurrence_applies(made)  ? programs::recurrence(made, 1)
          : programs::fifo_pass_applies(made) ? programs::fifo_pass(made, 1)
                                              : programs::event_pass(made, 1))
      .makespan_s;
}

// Units of so many blocks, as cuts between the parts that begin at `begins`.
buckets::Cuts block_cuts(const Scenario& scenario, const std::vector<std::uint32_t>& begins,
                         std::int64_t blocks) {
  buckets::Cuts cuts;
  for (const std::uint32_t begin : layers::unit_begins(
           scenario.workload, {.policy = layers::WrappingPolicy::block, .blocks = blocks})) {
    if (begin > 0) {
      cuts.push_back(
          static_cast<std::uint32_t>(std::ranges::lower_bound(begins, begin) - begins.begin()));
    }
  }
  return cuts;
}

std::optional<std::uint32_t> limit_of(const std::optional<std::int64_t>& limit) {
  return limit ? std::optional(static_cast<std::uint32_t>(*limit)) : std::nullopt;
}

// [unit]: the first one of as many parameters.
std::vector<std::uint32_t> alike_units(const std::vector<ProgramUnit>& units) {
  std::map<std::int64_t, std::uint32_t> firsts;
  std::vector<std::uint32_t> alike;
  for (const ProgramUnit& unit : units) {
    alike.push_back(firsts.try_emplace(unit.parameters, static_cast<std::uint32_t>(alike.size()))
                        .first->second);
  }
  return alike;
}

// Shards are those of a node, replicas one rank of every node.
void add_groups(const Scenario& scenario, programs::Program& program) {
  program.groups = {rank_group(scenario, RankGroup::node),
                    rank_group(scenario, RankGroup::replica)};
  for (programs::Operation& operation : program.operations) {
    if (operation.type == programs::OperationType::exchange) {
      operation.group = operation.kind == programs::Kind::allreduce ? 1 : 0;
    }
  }
}

// The options of the FSDP program that follow from the scenario.
programs::FsdpOptions fsdp_options(const Scenario& scenario) {
  const Training& training = scenario.training;
  const Sharding& sharding = training.sharding;
  std::optional<std::uint32_t> ahead = limit_of(sharding.ahead_forward);
  if (ahead && sharding.forward_prefetch) {
    ++*ahead;
  }
  return {.micro_batches = static_cast<std::uint32_t>(training.micro_batches),
          .update = training.update,
          .shards = static_cast<std::uint32_t>(shard_ranks(scenario)),
          .reshard_after_forward = sharding.reshard_after_forward,
          .reshard_after_backward = sharding.reshard_after_backward,
          .keep_last = sharding.keep_last,
          .ahead_forward = ahead,
          .ahead_backward = limit_of(sharding.ahead_backward),
          .prefetch = sharding.backward_prefetch,
          .reduces_in_flight = limit_of(sharding.reduces_in_flight),
          .communicators = static_cast<std::uint32_t>(sharding.communicators),
          .exchange_each = training.accumulation_exchange == AccumulationExchange::each,
          .hybrid = sharding.strategy == ShardingStrategy::hybrid_shard,
          .same_links = shards_span_nodes(scenario) && !is_simulated(scenario)};
}

} // namespace

buckets::UnitMemory unit_memory(const Scenario& scenario) {
  const Sharding& sharding = scenario.training.sharding;
  const programs::FsdpOptions options = fsdp_options(scenario);
  const double all = all_parameters(scenario);
  const double shard = (sharding.stored_bytes + sharding.reduce_bytes + optimizer_bytes(scenario)) *
                       all / static_cast<double>(shard_ranks(scenario));
  const auto& capacity = scenario.cluster.gpu_memory_bytes;
  constexpr double kHeld = 1 + kAllocatorShare;
  return {.limit_bytes =
              capacity ? static_cast<double>(*capacity) : std::numeric_limits<double>::infinity(),
          .fixed_bytes = shard + memory_before_training(scenario).context +
                         kHeld * known_activations(scenario).value_or(0),
          .parameter_bytes = kHeld * sharding.parameter_bytes,
          .reduce_bytes = kHeld * sharding.reduce_bytes,
          .parameters = static_cast<std::int64_t>(all),
          .ahead_forward = options.ahead_forward,
          .reduces_in_flight = options.reduces_in_flight};
}

std::string too_small(const buckets::UnitMemory& memory) {
  const auto whole = [](double bytes) {
    return std::to_string(static_cast<std::int64_t>(std::ceil(bytes)));
  };
  return whole(memory.limit_bytes) + " bytes do not hold the " + whole(memory.fixed_bytes) +
         " bytes that no wrapping changes";
}

std::optional<std::int64_t> largest_unit_of(const Scenario& scenario) {
  const Sharding& sharding = scenario.training.sharding;
  std::optional<std::int64_t> most = sharding.max_unit_parameters;
  const buckets::UnitMemory memory = unit_memory(scenario);
  if (memory.fixed_bytes <= memory.limit_bytes && scenario.cluster.gpu_memory_bytes) {
    const std::int64_t fits = buckets::largest_unit(memory).value_or(0);
    most = std::min(most.value_or(fits), fits);
  }
  return most;
}

std::vector<std::uint32_t> unit_parts(const Scenario& scenario) {
  constexpr std::size_t kMostLayers = 40; // more than a few times as many take minutes
  const bool few = scenario.workload.layers.size() <= kMostLayers;
  return layers::unit_begins(scenario.workload, {.policy = few ? layers::WrappingPolicy::layer
                                                               : layers::WrappingPolicy::block});
}

bool labels_apply(const Scenario& scenario) {
  const Sharding& sharding = scenario.training.sharding;
  return scenario.training.micro_batches == 1 &&
         sharding.backward_prefetch == programs::BackwardPrefetch::pre &&
         sharding.strategy != ShardingStrategy::hybrid_shard &&
         sharding.parameter_compression.decode_Bps == 0;
}

bool searches_units(const Scenario& scenario) {
  return !labels_apply(scenario) || scenario.training.overlap.any();
}

buckets::UnitPlan best_units(const Scenario& scenario) {
  const Sharding& sharding = scenario.training.sharding;
  const programs::FsdpOptions options = fsdp_options(scenario);
  const RankGroup group = options.hybrid ? RankGroup::node : RankGroup::all;
  const ValueCodec& codec = sharding.parameter_compression;
  const std::vector<std::uint32_t> begins = unit_parts(scenario);
  const std::vector<std::int64_t> parameters = layers::layer_parameters(scenario.workload);
  buckets::UnitProblem problem;
  for (std::size_t p = 0; p < begins.size(); ++p) {
    buckets::ShardedLayer& part = problem.layers.emplace_back();
    const std::size_t end = p + 1 < begins.size() ? begins[p + 1] : parameters.size();
    for (std::size_t l = begins[p]; l < end; ++l) {
      part.forward += scenario.workload.layers[l].forward;
      part.backward += scenario.workload.layers[l].backward;
      part.parameters += parameters[l];
    }
  }
  UnitProgram program{
      .options = options,
      .gather = unit_exchange(scenario, group, collectives::Op::allgather,
                              sharding.parameter_bytes / codec.ratio),
      .reduce =
          unit_exchange(scenario, group, collectives::Op::reduce_scatter, sharding.reduce_bytes),
      .decode =
          [&](std::int64_t count) {
            const std::int64_t all = padded(count, shard_ranks(scenario));
            return Seconds{codec.decode_s(sharding.parameter_bytes * static_cast<double>(all))};
          },
      .interference = scenario.training.overlap};
  problem.gather = seconds_of(program.gather);
  problem.reduce = seconds_of(program.reduce);
  const double shard = sharding.parameter_bytes * all_parameters(scenario) / options.shards;
  problem.update = options.update / options.shards + Seconds{codec.encode_s(shard)};
  problem.reshard_after_forward = options.reshard_after_forward;
  problem.keep_last = options.keep_last;
  problem.ahead_forward = options.ahead_forward;
  problem.ahead_backward = options.ahead_backward;
  problem.reduces_in_flight = options.reduces_in_flight;
  problem.communicators = options.communicators;
  problem.max_unit_parameters = largest_unit_of(scenario);
  buckets::UnitPlan best = buckets::plan_units(problem, sharding.label_limit);
  if (searches_units(scenario)) {
    program.options.update =
        problem.update * options.shards; // with encoding, as the problem has it
    if (options.hybrid) {
      program.replicate = unit_exchange(scenario, RankGroup::replica, collectives::Op::allreduce,
                                        sharding.reduce_bytes / options.shards);
    }
    std::vector<buckets::Cuts> starts{best.cuts};
    for (const std::int64_t blocks : layers::block_counts(scenario.workload)) {
      starts.push_back(block_cuts(scenario, begins, blocks));
    }
    best = buckets::search_units(
        problem, [&](const buckets::Cuts& cuts) { return program_period(problem, program, cuts); },
        starts, options.micro_batches,
        program.interference.any() ? buckets::kSlowSearch : buckets::SearchLimits{});
  }
  for (std::uint32_t& cut : best.cuts) {
    cut = begins[cut];
  }
  // Exchanges that meet, and workers that differ, take other times than those of the plan.
  best.certified =
      best.certified && !simulates_messages(scenario) && !scenario.variability.varies();
  return best;
}

layers::Wrapping wrapping_of(const buckets::Cuts& cuts) {
  layers::Wrapping wrapping{.policy = layers::WrappingPolicy::list};
  wrapping.cuts.assign(cuts.begin(), cuts.end());
  return wrapping;
}

double parameters_of(const std::vector<ProgramUnit>& units) {
  return base::sum_of<double>(units, &ProgramUnit::parameters);
}

Seconds encode_seconds(const Scenario& scenario, const std::vector<ProgramUnit>& units) {
  const Sharding& sharding = scenario.training.sharding;
  const double parameters = parameters_of(units);
  const auto shards = static_cast<double>(shard_ranks(scenario));
  return {sharding.parameter_compression.encode_s(sharding.parameter_bytes * parameters / shards)};
}

std::vector<ProgramUnit> units_of(const Scenario& scenario, const layers::Wrapping& wrapping) {
  const layers::Workload& workload = scenario.workload;
  const std::vector<std::uint32_t> begins = layers::unit_begins(workload, wrapping);
  const std::vector<std::int64_t> parameters = layers::layer_parameters(workload);
  const std::vector<double> bytes = layer_bytes(scenario);
  std::vector<ProgramUnit> units;
  for (std::size_t u = 0; u < begins.size(); ++u) {
    const std::size_t end = u + 1 < begins.size() ? begins[u + 1] : workload.layers.size();
    ProgramUnit& unit = units.emplace_back();
    double sum = 0;
    for (std::size_t l = begins[u]; l < end; ++l) {
      unit.layers.push_back(static_cast<std::uint32_t>(l));
      unit.layer_bytes.push_back(bytes[l]);
      unit.parameters += parameters[l];
      sum += bytes[l];
    }
    unit.parameters = padded(unit.parameters, shard_ranks(scenario));
    unit.bytes = Bytes{static_cast<std::int64_t>(sum)};
  }
  return units;
}

std::int64_t padded(std::int64_t parameters, std::int64_t shards) {
  return (parameters + shards - 1) / shards * shards;
}

void share_anew(const Scenario& scenario, ScenarioProgram& made) {
  const Sharding& sharding = scenario.training.sharding;
  if (made.sharded) {
    const std::vector<std::int64_t> parameters = layers::layer_parameters(scenario.workload);
    for (ProgramUnit& unit : made.units) {
      unit.parameters = 0;
      for (const std::uint32_t layer : unit.layers) {
        unit.parameters += parameters[layer];
      }
      unit.parameters = padded(unit.parameters, shard_ranks(scenario));
    }
    made.parameters = parameters_of(made.units);
    made.live_changes.renew(unit_bytes(scenario, made.units));
    std::vector<std::uint32_t> alike = alike_units(made.units);
    if (alike != made.alike) {
      made.alike = std::move(alike);
      for (TimedExchange& each : made.timed) {
        each.unit =
            made.like(static_cast<std::uint32_t>(made.program.operations[each.operation].unit));
      }
      count_exchanges(made);
    }
  }
  const Seconds encode = encode_seconds(scenario, made.units);
  for (programs::Operation& each : made.program.operations) {
    if (each.kind == programs::Kind::update) {
      each.seconds = scenario.training.update / shard_count(scenario);
    } else if (each.kind == programs::Kind::encode) {
      each.seconds = encode;
    } else if (each.kind == programs::Kind::decode) {
      const std::int64_t parameters = made.units[static_cast<std::size_t>(each.unit)].parameters;
      each.seconds = {sharding.parameter_compression.decode_s(sharding.parameter_bytes *
                                                              static_cast<double>(parameters))};
    }
  }
}

programs::Program make_sharded_units(const Scenario& scenario, ScenarioProgram& out) {
  const Sharding& sharding = scenario.training.sharding;
  programs::FsdpOptions options = fsdp_options(scenario);
  out.sharded = true;
  layers::Wrapping wrapping = sharding.wrapping;
  if (wrapping.policy == layers::WrappingPolicy::optimal) {
    const buckets::UnitPlan best = best_units(scenario);
    wrapping = wrapping_of(best.cuts);
    out.certified = best.certified;
  }
  out.units = units_of(scenario, wrapping);
  out.alike = alike_units(out.units);
  time_shards(scenario, out);
  std::vector<programs::UnitTimes> times;
  for (std::uint32_t u = 0; u < out.units.size(); ++u) {
    const ProgramUnit& unit = out.units[out.like(u)];
    const double gathered = sharding.parameter_bytes * static_cast<double>(unit.parameters);
    programs::UnitTimes& each = times.emplace_back(programs::UnitTimes{
        .gather = unit.gather.time, .reduce = unit.reduce.time, .replicate = unit.replicate.time});
    each.decode = {sharding.parameter_compression.decode_s(gathered)};
    each.parameters = unit.parameters > 0;
    for (const std::uint32_t layer : out.units[u].layers) {
      each.forward += scenario.workload.layers[layer].forward;
      each.backward += scenario.workload.layers[layer].backward;
    }
  }
  options.encode = encode_seconds(scenario, out.units);
  programs::Program made = programs::fsdp_program(times, options);
  if (options.hybrid) {
    add_groups(scenario, made);
  }
  return made;
}

} // namespace stepsim::study
