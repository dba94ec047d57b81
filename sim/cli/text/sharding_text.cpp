#include "cli/text/run_text.hpp"

#include "base/number_text.hpp"
#include "base/quantity.hpp"
#include "scenario/scenario_sharding.hpp"

namespace stepsim::cli {

std::string sharding_text(const study::Result& result) {
  const study::Training& training = result.scenario.training;
  const study::Sharding& sharding = training.sharding;
  std::string text;
  if (sharding.strategy != study::ShardingStrategy::none) {
    text = std::string(study::kShardingStrategies[sharding.strategy]);
  }
  if (!result.units.empty()) {
    const std::size_t count = result.units.size();
    text += " (" + std::string(study::kShardingPresets[sharding.preset]) + "), " +
            std::to_string(count) + (count == 1 ? " unit" : " units");
  }
  if (training.micro_batches > 1) {
    text +=
        (text.empty() ? "" : ", ") + std::to_string(training.micro_batches) +
        " micro-batches, exchanged after " +
        (training.accumulation_exchange == study::AccumulationExchange::each ? "each" : "the last");
  }
  return text;
}

std::string sharded_exchange_text(const study::Result& result) {
  const study::Sharding& sharding = result.scenario.training.sharding;
  const study::CodecMethod codec = sharding.parameter_compression.method;
  const std::string gather =
      "all-gather of " + base::shortest(sharding.parameter_bytes) + "-byte parameters" +
      (codec == study::CodecMethod::none ? ""
                                         : " (" + std::string(study::kCodecMethods[codec]) + ")");
  const std::string reduce =
      "reduce-scatter of " + base::shortest(sharding.reduce_bytes) + "-byte gradients";
  return result.units.empty() ? reduce + ", " + gather : gather + ", " + reduce;
}

std::string memory_text(const study::Summary& summary) {
  if (!summary.memory_total_bytes) {
    return "";
  }
  std::string text = base::readable_bytes(*summary.memory_total_bytes) + " a rank: parameters " +
                     base::readable_bytes(*summary.memory_parameters_bytes) + ", gradients " +
                     base::readable_bytes(*summary.memory_gradients_bytes) + ", optimizer " +
                     base::readable_bytes(*summary.memory_optimizer_bytes);
  if (*summary.memory_live_bytes > 0) {
    text += ", gathered units " + base::readable_bytes(*summary.memory_live_bytes);
  }
  return text + (*summary.memory_activation_bytes > 0
                     ? ", activations " + base::readable_bytes(*summary.memory_activation_bytes)
                     : "; activations are not counted (activation_bytes)");
}

} // namespace stepsim::cli
