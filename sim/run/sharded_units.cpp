#include "run/sharding_plan.hpp"

#include "run/group_exchange.hpp"
#include "run/network_figures.hpp"
#include "scenario/scenario_sharding.hpp"

namespace stepsim::study {

namespace {

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

} // namespace

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
          .hybrid = sharding.strategy == ShardingStrategy::hybrid_shard};
}

Seconds encode_seconds(const Scenario& scenario, const std::vector<ProgramUnit>& units) {
  const Sharding& sharding = scenario.training.sharding;
  double parameters = 0;
  for (const ProgramUnit& unit : units) {
    parameters += static_cast<double>(unit.parameters);
  }
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
    made.alike = alike_units(made.units);
    for (TimedExchange& each : made.timed) {
      each.unit =
          made.like(static_cast<std::uint32_t>(made.program.operations[each.operation].unit));
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
    programs::UnitTimes& each =
        times.emplace_back(programs::UnitTimes{.forward = {},
                                               .backward = {},
                                               .gather = unit.gather.time,
                                               .reduce = unit.reduce.time,
                                               .replicate = unit.replicate.time});
    each.decode = {sharding.parameter_compression.decode_s(gathered)};
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
