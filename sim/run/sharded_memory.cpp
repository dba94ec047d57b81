#include "run/sharded_memory.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/quantity.hpp"
#include "programs/live_bytes.hpp"
#include "scenario/scenario_sharding.hpp"

namespace stepsim::study {

namespace {

double parameters_of(const Scenario& scenario, const ScenarioProgram& made) {
  if (!made.sharded) {
    const std::vector<std::int64_t> layers = layers::layer_parameters(scenario.workload);
    return static_cast<double>(std::accumulate(layers.begin(), layers.end(), std::int64_t{0}));
  }
  double sum = 0;
  for (const ProgramUnit& unit : made.units) {
    sum += static_cast<double>(unit.parameters);
  }
  return sum;
}

double live_bytes(const Sharding& sharding, const ScenarioProgram& made,
                  const programs::OperationTimes& times) {
  std::vector<double> parameters;
  std::vector<double> gradients;
  for (const ProgramUnit& unit : made.units) {
    const auto count = static_cast<double>(unit.parameters);
    parameters.push_back(sharding.parameter_bytes * count);
    gradients.push_back(sharding.reduce_bytes * count);
  }
  return programs::live_peak(programs::live_spans(made.program, times, times.iterations - 1),
                             parameters, gradients)
      .bytes;
}

double largest_bucket(const ScenarioProgram& made) {
  std::int64_t most = 0;
  for (const ProgramUnit& unit : made.units) {
    most = std::max(most, unit.parameters);
  }
  return static_cast<double>(most);
}

} // namespace

void fill_memory(const Scenario& scenario, const ScenarioProgram& made,
                 const programs::OperationTimes& times, Summary& summary) {
  const Sharding& sharding = scenario.training.sharding;
  const double all = parameters_of(scenario, made);
  const auto shards = static_cast<double>(shard_ranks(scenario));
  double live = 0;
  double parameters = sharding.stored_bytes * all;
  double gradients = sharding.reduce_bytes * all;
  double optimizer = sharding.optimizer_bytes * all;
  switch (sharding.strategy) {
  case ShardingStrategy::none:
    parameters +=
        sharding.parameter_bytes != sharding.stored_bytes ? sharding.parameter_bytes * all : 0;
    break;
  case ShardingStrategy::zero1:
  case ShardingStrategy::zero2:
    parameters = sharding.parameter_bytes * all + parameters / shards;
    if (sharding.strategy == ShardingStrategy::zero2) {
      gradients = gradients / shards + sharding.reduce_bytes * largest_bucket(made);
    }
    optimizer /= shards;
    break;
  case ShardingStrategy::full_shard:
  case ShardingStrategy::shard_grad_op:
  case ShardingStrategy::hybrid_shard:
    parameters /= shards;
    gradients /= shards;
    optimizer /= shards;
    live = live_bytes(sharding, made, times);
    break;
  }
  summary.memory_parameters_bytes = parameters;
  summary.memory_gradients_bytes = gradients;
  summary.memory_optimizer_bytes = optimizer;
  summary.memory_live_bytes = live;
  summary.memory_activation_bytes = sharding.activation_bytes;
  summary.memory_total_bytes =
      parameters + gradients + optimizer + live + sharding.activation_bytes;
  if (sharding.memory_bytes) {
    summary.memory_limit_bytes = static_cast<double>(*sharding.memory_bytes);
    summary.memory_fits = *summary.memory_total_bytes <= *summary.memory_limit_bytes;
  }
}

std::string memory_warning(const Summary& summary) {
  if (summary.memory_fits.value_or(true)) {
    return "";
  }
  return "memory: a rank needs " + base::readable_bytes(*summary.memory_total_bytes) + ", " +
         base::readable_bytes(*summary.memory_total_bytes - *summary.memory_limit_bytes) +
         " more than memory_bytes";
}

} // namespace stepsim::study
