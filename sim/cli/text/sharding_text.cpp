#include "cli/text/run_text.hpp"

#include <array>
#include <utility>

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
  if (!summary.memory_capacity_bytes && summary.memory_parts_units_bytes.value_or(0) == 0) {
    return "";
  }
  std::string text = base::readable_bytes(*summary.memory_bytes) + " a worker";
  if (summary.memory_capacity_bytes) {
    text += " of " + base::readable_bytes(*summary.memory_capacity_bytes);
  }
  if (summary.memory_capacity_bytes && !summary.memory_fits &&
      *summary.memory_high_bytes > *summary.memory_capacity_bytes) {
    text += " (may not fit: up to " + base::readable_bytes(*summary.memory_high_bytes) + ")";
  }
  const std::array parts{std::pair{"parameters", summary.memory_parts_parameters_bytes},
                         std::pair{"master copy", summary.memory_parts_master_bytes},
                         std::pair{"gradients", summary.memory_parts_gradients_bytes},
                         std::pair{"optimizer", summary.memory_parts_optimizer_bytes},
                         std::pair{"buckets", summary.memory_parts_buckets_bytes},
                         std::pair{"further copies", summary.memory_parts_copies_bytes},
                         std::pair{"temporaries of the update", summary.memory_parts_update_bytes},
                         std::pair{"gathered units", summary.memory_parts_units_bytes},
                         std::pair{"activations", summary.memory_parts_activations_bytes}};
  std::string list;
  for (const auto& [name, bytes] : parts) {
    if (bytes.value_or(0) > 0) {
      list += (list.empty() ? ": " : ", ") + std::string(name) + " " + base::readable_bytes(*bytes);
    }
  }
  return text + list +
         (summary.memory_parts_activations_bytes
              ? ""
              : "; activations are not known (/training/activation_bytes)");
}

} // namespace stepsim::cli
