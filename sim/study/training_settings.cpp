// The best row of plan-training as the configuration that a framework of today reads. Every line
// says what it is; JSON has no comments, so that its keys are explained beside it.
#include "study/plan_training.hpp"

#include "document/json_text.hpp"
#include "run/sharding_plan.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

using layers::Recompute;

// What the frameworks are told.
struct Facts {
  ShardingStrategy strategy{};
  std::string_view strategy_word;
  Recompute recompute{};
  std::int64_t batch{}, micro_batches{}, ranks{}, gpus{}; // gpus: of a machine
  std::int64_t shards = 1;                                // ranks that share one copy
  std::optional<std::int64_t> tokens;
  bool fp16 = false;
  std::int64_t bucket_bytes{}; // of gradients, where they have buckets
  double gradient_bytes{};     // of a value
  layers::Wrapping wrapping{}; // of parameters, where they have units
  std::string units;           // python_units() where `wrapping` is neither block nor all

  [[nodiscard]] std::int64_t replicas() const { return ranks / shards; }
  [[nodiscard]] std::int64_t samples() const { return ranks * batch * micro_batches; }
  [[nodiscard]] bool keeps() const { return strategy == ShardingStrategy::shard_grad_op; }
  [[nodiscard]] bool has_blocks() const { return wrapping == layers::Wrapping{}; }
  [[nodiscard]] bool has_one_unit() const { return wrapping.policy == layers::WrappingPolicy::all; }
  [[nodiscard]] std::string units_text() const {
    return has_one_unit() ? "one unit"
           : has_blocks() ? "a unit for each block"
           : units.empty()
               ? fmt::format("a unit for every {} blocks", wrapping.blocks)
               : fmt::format("units of wrapping {}", layers::kWrappingPolicies[wrapping.policy]);
  }
};

Facts facts_of(const Scenario& best) {
  if (!best.workload.batch_size) {
    throw UsageError("--emit: the workload has no batch size, which the settings need");
  }
  const Sharding& sharding = best.training.sharding;
  const auto& estimate = best.workload_source.profile.estimate;
  Facts facts;
  facts.strategy = sharding.strategy;
  facts.strategy_word = kShardingStrategies[sharding.strategy];
  facts.recompute = estimate ? estimate->recompute : Recompute::none;
  facts.batch = *best.workload.batch_size;
  facts.micro_batches = best.training.micro_batches;
  facts.ranks = best.cluster.ranks();
  facts.gpus = best.cluster.gpus_per_node;
  facts.shards = !sharding.any() ? 1 : shard_ranks(best);
  facts.tokens = best.workload_source.tokens;
  facts.fp16 = estimate && estimate->precision == layers::Precision::fp16;
  facts.bucket_bytes = best.communication.schedule_options.bucket_bytes.value;
  facts.gradient_bytes = best.workload.bytes_per_value();
  facts.wrapping = has_units(sharding) ? sharding.wrapping : layers::Wrapping{};
  if (!facts.has_one_unit() && facts.wrapping.policy != layers::WrappingPolicy::block) {
    facts.units = python_units(
        best.workload,
        layers::unit_begins(best.workload, facts.wrapping.policy == layers::WrappingPolicy::optimal
                                               ? wrapping_of(best_units(best).cuts)
                                               : facts.wrapping));
  }
  return facts;
}

bool is_zero(ShardingStrategy strategy) {
  return strategy == ShardingStrategy::zero1 || strategy == ShardingStrategy::zero2;
}
bool is_no_zero(ShardingStrategy strategy) { return !is_zero(strategy); }

std::string torchtitan(const Facts& facts) {
  if (facts.fp16) {
    throw UsageError("--emit torchtitan: it computes in bfloat16; --set /workload/dtype=bf16");
  }
  if (!facts.tokens) {
    throw UsageError(
        "--emit torchtitan: it trains language models, and the scenario has no tokens");
  }
  const std::string_view policy = facts.recompute == Recompute::none   ? "None"
                                  : facts.recompute == Recompute::full ? "FullAC.Config()"
                                                                       : "SelectiveAC.Config()";
  const std::int64_t tokens = facts.batch * *facts.tokens;
  std::string out = fmt::format(
      "# A run is a function that returns planned(recipe()), with torchtitan's recipe of the "
      "model.\n"
      "from torchtitan.distributed.activation_checkpoint import FullAC, SelectiveAC\n\n\n"
      "def planned(config):\n"
      "    training, parallelism = config.training, config.parallelism\n"
      "    training.num_tokens_per_microbatch_per_dp_rank = {}  # {} samples of a GPU\n"
      "    training.num_tokens_per_train_step = {}  # of {} GPUs x {} micro-batches\n"
      "    training.max_context_length = {}  # tokens of a sample\n"
      "    training.mixed_precision_param = \"bfloat16\"  # parameters are computed with\n"
      "    training.mixed_precision_reduce = \"float32\"  # gradients are reduced\n"
      "    parallelism.data_parallel_replicate_degree = {}  # copies of the model\n"
      "    parallelism.data_parallel_shard_degree = {}  # GPUs that share one copy\n",
      tokens, facts.batch, facts.samples() * *facts.tokens, facts.ranks, facts.micro_batches,
      *facts.tokens, facts.replicas(), facts.shards);
  if (facts.shards > 1) {
    out += fmt::format("    parallelism.fsdp_reshard_after_forward = \"{}\"  # whether backward "
                       "gathers again\n",
                       facts.keeps() ? "never" : "always");
  }
  return out + fmt::format("    config.activation_checkpoint = {}  # what backward computes again\n"
                           "    return config\n",
                           policy);
}

std::string deepspeed(const Facts& facts) {
  const std::int64_t stage = facts.strategy == ShardingStrategy::none    ? 0
                             : facts.strategy == ShardingStrategy::zero1 ? 1
                             : facts.strategy == ShardingStrategy::zero2 ? 2
                                                                         : 3;
  io::Json zero{io::Object{{"stage", stage}}};
  if (stage == 1 || stage == 2) {
    const auto values =
        static_cast<std::int64_t>(static_cast<double>(facts.bucket_bytes) / facts.gradient_bytes);
    zero.set("reduce_bucket_size", values);
    zero.set("allgather_bucket_size", values);
  }
  if (facts.strategy == ShardingStrategy::hybrid_shard) {
    zero.set("mics_shard_size", facts.shards);
  }
  return io::pretty(io::Object{{"train_batch_size", facts.samples()},
                               {"train_micro_batch_size_per_gpu", facts.batch},
                               {"gradient_accumulation_steps", facts.micro_batches},
                               {facts.fp16 ? "fp16" : "bf16", io::Object{{"enabled", true}}},
                               {"zero_optimization", std::move(zero)}});
}

std::string accelerate(const Facts& facts) {
  const bool shards = facts.strategy != ShardingStrategy::none;
  const std::string out =
      fmt::format("distributed_type: {}  # {}\n"
                  "mixed_precision: {}\n"
                  "num_machines: {}\n"
                  "num_processes: {}  # GPUs of all machines\n",
                  shards ? "FSDP" : "MULTI_GPU", facts.strategy_word, facts.fp16 ? "fp16" : "bf16",
                  facts.ranks / facts.gpus, facts.ranks);
  if (!shards) {
    return out;
  }
  return out + fmt::format("fsdp_config:\n"
                           "  fsdp_version: 2\n"
                           "  fsdp_reshard_after_forward: {}  # whether backward gathers again\n"
                           "  fsdp_auto_wrap_policy: {}  # {}\n"
                           "  fsdp_activation_checkpointing: {}  # {}\n"
                           "parallelism_config:\n"
                           "  parallelism_config_dp_replicate_size: {}  # copies of the model\n"
                           "  parallelism_config_dp_shard_size: {}  # GPUs that share one copy\n",
                           !facts.keeps(),
                           facts.has_one_unit() ? "NO_WRAP" : "TRANSFORMER_BASED_WRAP",
                           facts.has_one_unit() ? "one unit" : "a unit for each block",
                           facts.recompute == Recompute::full,
                           facts.recompute == Recompute::none || facts.recompute == Recompute::full
                               ? "backward computes again"
                               : "of all layers; that of some, which the plan needs, is set in "
                                 "the model",
                           facts.replicas(), facts.shards);
}

// The calls for each unit but the whole model; the comment `checkpoint` is of a block.
std::string fsdp_units(const Facts& facts, const std::string& checkpoint) {
  if (facts.has_one_unit() || !facts.units.empty()) {
    return checkpoint + (facts.has_one_unit() ? "" : facts.units + "**settings)\n");
  }
  const std::string inside = checkpoint.empty() ? "" : "    " + checkpoint;
  return facts.has_blocks()
             ? fmt::format("for block in model.layers:  # {}\n{}"
                           "    fully_shard(block, **settings)\n",
                           facts.units_text(), inside)
             : fmt::format("blocks = list(model.layers)\n"
                           "for first in range(0, len(blocks), {0}):  # {1}\n{2}"
                           "    fully_shard(blocks[first : first + {0}], **settings)\n",
                           facts.wrapping.blocks, facts.units_text(), inside);
}

std::string fsdp(const Facts& facts) {
  const std::string checkpoint =
      facts.recompute == Recompute::none
          ? ""
          : "# Wrap the block in torch.utils.checkpoint before: " +
                std::string(facts.recompute == Recompute::full
                                ? "its backward computes it again.\n"
                                : "its backward computes all but attention and every second "
                                  "matrix product again.\n");
  if (facts.strategy == ShardingStrategy::none) {
    return fmt::format("from torch.nn.parallel import DistributedDataParallel\n\n"
                       "model = DistributedDataParallel(model, bucket_cap_mb={})\n",
                       facts.bucket_bytes / (1 << 20));
  }
  const std::string mesh = facts.replicas() > 1
                               ? fmt::format("({}, {}), mesh_dim_names=(\"replicate\", \"shard\")",
                                             facts.replicas(), facts.shards)
                               : fmt::format("({},)", facts.ranks);
  return fmt::format("import torch\n"
                     "from torch.distributed.device_mesh import init_device_mesh\n"
                     "from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard\n\n"
                     "settings = {{\n"
                     "    \"mesh\": init_device_mesh(\"cuda\", {}),\n"
                     "    \"reshard_after_forward\": {},  # whether backward gathers again\n"
                     "    \"mp_policy\": MixedPrecisionPolicy(param_dtype=torch.{}, "
                     "reduce_dtype=torch.float32),\n"
                     "}}\n"
                     "{}"
                     "fully_shard(model, **settings)\n",
                     mesh, facts.keeps() ? "False" : "True", facts.fp16 ? "float16" : "bfloat16",
                     fsdp_units(facts, checkpoint));
}

struct SettingsTarget {
  std::string_view name, mark; // mark: begins a comment; "" = there are none
  std::string (*settings)(const Facts& facts);
  std::string_view keys; // whose keys they are: tests/cli/framework_keys.json
  std::string_view note; // what the file cannot say
  bool (*says_units)(const Facts& facts);
  bool (*has)(ShardingStrategy strategy) = is_no_zero;
};
constexpr std::array kTargets{
    SettingsTarget{"torchtitan", "# ", torchtitan, "torchtitan b5bcd76", "",
                   [](const Facts& facts) { return facts.has_blocks(); }},
    SettingsTarget{
        "deepspeed", "", deepspeed, "DeepSpeed edaa722",
        "train_batch_size is GPUs x micro-batches x samples; bucket sizes count values; "
        "mics_shard_size GPUs share one copy, where the model is made inside "
        "deepspeed.zero.MiCS_Init; what backward computes again is set in the model",
        [](const Facts& facts) { return facts.has_blocks(); },
        [](ShardingStrategy strategy) { return strategy != ShardingStrategy::shard_grad_op; }},
    SettingsTarget{
        "accelerate", "# ", accelerate, "Accelerate 16cb6eb",
        "micro-batches are gradient_accumulation_steps of Accelerator(); what computes a part of a "
        "block again is set in the model",
        [](const Facts& facts) { return facts.has_blocks() || facts.has_one_unit(); }},
    SettingsTarget{"fsdp", "# ", fsdp, "PyTorch from 2.6", "", [](const Facts&) { return true; }}};

} // namespace

std::vector<std::string_view> training_targets() {
  return base::collected<std::string_view>(kTargets, &SettingsTarget::name);
}

bool has_strategy(std::string_view target, ShardingStrategy strategy) {
  return std::ranges::find(kTargets, target, &SettingsTarget::name)->has(strategy);
}

TrainingSettings training_settings(std::string_view target, const Scenario& best,
                                   std::string_view prediction) {
  const Facts facts = facts_of(best);
  const auto* found = std::ranges::find(kTargets, target, &SettingsTarget::name);
  if (!found->has(facts.strategy)) {
    throw UsageError(fmt::format("--emit {}: it has no {}; --emit {} has it", target,
                                 facts.strategy_word,
                                 is_zero(facts.strategy) ? "deepspeed" : "fsdp"));
  }
  const std::string units =
      found->says_units(facts)
          ? ""
          : fmt::format("The plan has {}; {} has one for each block.", facts.units_text(), target);
  if (found->mark.empty()) {
    return {found->settings(facts), std::string(found->note) + (units.empty() ? "" : ". " + units)};
  }
  const std::string head =
      fmt::format("{0}{1}\n{0}Keys of {2}.\n", found->mark, prediction, found->keys);
  return {head + (units.empty() ? "" : std::string(found->mark) + units + "\n") +
              found->settings(facts),
          std::string(found->note)};
}

} // namespace stepsim::study
