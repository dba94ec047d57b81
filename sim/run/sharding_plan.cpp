// The planner asks for the times of every run of layers: O(layers^2) sizes, each evaluated once.
#include "run/sharding_plan.hpp"

#include "buckets/unit_search.hpp"
#include "programs/recurrence.hpp"
#include "run/group_exchange.hpp"
#include "run/memory_figures.hpp"
#include "scenario/scenario_sharding.hpp"

namespace stepsim::study {

namespace {

double all_parameters(const Scenario& scenario) {
  const std::vector<std::int64_t> layers = layers::layer_parameters(scenario.workload);
  return static_cast<double>(std::accumulate(layers.begin(), layers.end(), std::int64_t{0}));
}

// Seconds of an exchange by the parameters of a unit, `bytes` each after padding.
class UnitSecondsCache {
public:
  UnitSecondsCache(const Scenario& scenario, RankGroup group, collectives::Op op, double bytes)
      : exchanges_(scenario, group, op), bytes_(bytes), shards_(shard_ranks(scenario)) {}
  [[nodiscard]] double operator()(std::int64_t parameters) {
    const auto [place, is_new] = seconds_.try_emplace(parameters);
    if (is_new) {
      place->second =
          exchanges_(bytes_ * static_cast<double>(padded(parameters, shards_))).seconds();
    }
    return place->second;
  }

private:
  GroupExchanges exchanges_;
  double bytes_;
  std::int64_t shards_;
  std::map<std::int64_t, double> seconds_;
};

buckets::UnitCost unit_cost(const Scenario& scenario, RankGroup group, collectives::Op op,
                            double bytes) {
  const auto cache = std::make_shared<UnitSecondsCache>(scenario, group, op, bytes);
  return [cache](std::int64_t parameters) { return (*cache)(parameters); };
}

// Costs that the planner does not know, by the parameters of a unit; empty where there are none.
struct FurtherCosts {
  buckets::UnitCost replicate;
  buckets::UnitCost decode;
};

// The period of one division by the program itself. Everything of an iteration waits for the update
// before it, so that the first iteration lasts a period.
double program_period(const buckets::UnitProblem& problem, const FurtherCosts& costs,
                      const programs::FsdpOptions& options, const buckets::Cuts& cuts) {
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
    if (parameters > 0) {
      unit.gather.data = Seconds{problem.gather(parameters)};
      unit.reduce.data = Seconds{problem.reduce(parameters)};
      unit.replicate.data = Seconds{costs.replicate ? costs.replicate(parameters) : 0};
      unit.decode = Seconds{costs.decode ? costs.decode(parameters) : 0};
    }
  }
  return programs::recurrence(programs::fsdp_program(units, options), 1).makespan_s;
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

bool searches_units(const Scenario& scenario) {
  const Sharding& sharding = scenario.training.sharding;
  return scenario.training.micro_batches != 1 ||
         sharding.backward_prefetch != programs::BackwardPrefetch::pre ||
         sharding.strategy == ShardingStrategy::hybrid_shard ||
         sharding.parameter_compression.decode_Bps != 0;
}

buckets::UnitPlan best_units(const Scenario& scenario) {
  const Sharding& sharding = scenario.training.sharding;
  const programs::FsdpOptions options = fsdp_options(scenario);
  const RankGroup group = options.hybrid ? RankGroup::node : RankGroup::all;
  const ValueCodec& codec = sharding.parameter_compression;
  buckets::UnitProblem problem;
  const std::vector<std::int64_t> parameters = layers::layer_parameters(scenario.workload);
  for (std::size_t l = 0; l < parameters.size(); ++l) {
    const layers::WorkLayer& layer = scenario.workload.layers[l];
    problem.layers.push_back({layer.forward, layer.backward, parameters[l]});
  }
  problem.gather = unit_cost(scenario, group, collectives::Op::allgather,
                             sharding.parameter_bytes / codec.ratio);
  problem.reduce =
      unit_cost(scenario, group, collectives::Op::reduce_scatter, sharding.reduce_bytes);
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
  if (!searches_units(scenario)) {
    return best;
  }
  FurtherCosts costs;
  if (options.hybrid) {
    costs.replicate = unit_cost(scenario, RankGroup::replica, collectives::Op::allreduce,
                                sharding.reduce_bytes / static_cast<double>(options.shards));
  }
  if (codec.decode_Bps > 0) {
    const double bytes = sharding.parameter_bytes;
    costs.decode = [codec, bytes](std::int64_t count) {
      return codec.decode_s(bytes * static_cast<double>(count));
    };
  }
  programs::FsdpOptions searched = options;
  searched.update = problem.update * options.shards; // with encoding, as the problem has it
  return buckets::search_units(
      problem,
      [&](const buckets::Cuts& cuts) { return program_period(problem, costs, searched, cuts); },
      {best.cuts}, options.micro_batches);
}

layers::Wrapping wrapping_of(const buckets::Cuts& cuts) {
  layers::Wrapping wrapping{.policy = layers::WrappingPolicy::list};
  wrapping.cuts.assign(cuts.begin(), cuts.end());
  return wrapping;
}

} // namespace stepsim::study
