// The best row of plan-training as the configuration that a framework of today reads. Every line
// says what it is; JSON has no comments, so that its keys are explained beside it.
#include "study/training_settings.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "scenario/scenario_sharding.hpp"

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

  [[nodiscard]] std::int64_t replicas() const { return ranks / shards; }
  [[nodiscard]] std::int64_t samples() const { return ranks * batch * micro_batches; }
  [[nodiscard]] bool keeps() const { return strategy == ShardingStrategy::shard_grad_op; }
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
  facts.shards = sharding.strategy == ShardingStrategy::none ? 1 : shard_ranks(best);
  facts.tokens = best.workload_source.tokens;
  facts.fp16 = estimate && estimate->precision == layers::Precision::fp16;
  facts.bucket_bytes = best.communication.schedule_options.bucket_bytes.value;
  facts.gradient_bytes = best.workload.bytes_per_value();
  return facts;
}

[[noreturn]] void refuse(std::string_view target, const Facts& facts, std::string_view instead) {
  throw UsageError(
      fmt::format("--emit {}: it has no {}; {}", target, facts.strategy_word, instead));
}

bool is_zero(const Facts& facts) {
  return facts.strategy == ShardingStrategy::zero1 || facts.strategy == ShardingStrategy::zero2;
}

std::string torchtitan(const Facts& facts) {
  if (is_zero(facts)) {
    refuse("torchtitan", facts, "--emit deepspeed has it");
  }
  if (facts.fp16) {
    throw UsageError("--emit torchtitan: it computes in bfloat16; --set /workload/dtype=bf16");
  }
  const bool op = facts.recompute == Recompute::selective_op;
  std::string out = fmt::format(
      "[training]\n"
      "local_batch_size = {}  # samples of a micro-batch on a GPU\n"
      "global_batch_size = {}  # of an update: {} GPUs x {} micro-batches x {} samples\n",
      facts.batch, facts.samples(), facts.ranks, facts.micro_batches, facts.batch);
  if (facts.tokens) {
    out += fmt::format("seq_len = {}  # tokens of a sample\n", *facts.tokens);
  }
  out += fmt::format("mixed_precision_param = \"bfloat16\"  # parameters are computed with\n"
                     "mixed_precision_reduce = \"float32\"  # gradients are reduced\n"
                     "\n[parallelism]\n"
                     "data_parallel_replicate_degree = {}  # copies of the model\n"
                     "data_parallel_shard_degree = {}  # GPUs that share one copy\n",
                     facts.replicas(), facts.shards);
  if (facts.shards > 1) {
    out += fmt::format("fsdp_reshard_after_forward = \"{}\"  # whether backward gathers again\n",
                       facts.keeps() ? "never" : "always");
  }
  out += fmt::format("\n[activation_checkpoint]\nmode = \"{}\"  # what backward computes again\n",
                     facts.recompute == Recompute::full ? "full"
                     : op                               ? "selective"
                                                        : "none");
  return out +
         (op ? "selective_ac_option = \"op\"  # all but attention and every second product\n" : "");
}

std::string deepspeed(const Facts& facts) {
  if (facts.keeps()) {
    refuse("deepspeed", facts, "--emit fsdp has it");
  }
  const std::int64_t stage = facts.strategy == ShardingStrategy::none    ? 0
                             : facts.strategy == ShardingStrategy::zero1 ? 1
                             : facts.strategy == ShardingStrategy::zero2 ? 2
                                                                         : 3;
  io::Json zero{io::Object{{"stage", stage}}};
  if (stage < 3) {
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
  if (is_zero(facts)) {
    refuse("accelerate", facts, "--emit deepspeed has it");
  }
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
                           "  fsdp_sharding_strategy: {}\n"
                           "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP  # a unit a block\n"
                           "  fsdp_activation_checkpointing: {}  # backward computes again\n",
                           facts.strategy == ShardingStrategy::hybrid_shard ? "HYBRID_SHARD"
                           : facts.keeps()                                  ? "SHARD_GRAD_OP"
                                                                            : "FULL_SHARD",
                           facts.recompute == Recompute::full);
}

std::string fsdp(const Facts& facts) {
  if (is_zero(facts)) {
    refuse("fsdp", facts, "--emit deepspeed has it");
  }
  const std::string checkpoint =
      facts.recompute == Recompute::none
          ? ""
          : "    # Wrap the block in torch.utils.checkpoint before: " +
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
                     "for block in model.layers:  # a unit for each block\n"
                     "{}"
                     "    fully_shard(block, **settings)\n"
                     "fully_shard(model, **settings)\n",
                     mesh, facts.keeps() ? "False" : "True", facts.fp16 ? "float16" : "bfloat16",
                     checkpoint);
}

struct Target {
  std::string_view name, mark; // mark: begins a comment; "" = there are none
  std::string (*settings)(const Facts& facts);
  std::string_view keys; // whose keys they are: tests/cli/framework_keys.json
  std::string_view note; // what the file cannot say
};
constexpr std::array kTargets{
    Target{"torchtitan", "# ", torchtitan, "torchtitan 000204a", ""},
    Target{"deepspeed", "", deepspeed, "DeepSpeed 1b88ac3",
           "train_batch_size is GPUs x micro-batches x samples; bucket sizes count values; "
           "mics_shard_size GPUs share one copy; what backward computes again is set in the model"},
    Target{"accelerate", "# ", accelerate, "Accelerate 002dd35",
           "micro-batches are gradient_accumulation_steps of Accelerator()"},
    Target{"fsdp", "# ", fsdp, "PyTorch from 2.6", ""}};

} // namespace

std::vector<std::string_view> training_targets() {
  std::vector<std::string_view> names;
  for (const Target& each : kTargets) {
    names.push_back(each.name);
  }
  return names;
}

TrainingSettings training_settings(std::string_view target, const Scenario& best,
                                   std::string_view prediction) {
  const Facts facts = facts_of(best);
  const auto* found = std::ranges::find(kTargets, target, &Target::name);
  const std::string head = found->mark.empty() ? ""
                                               : fmt::format("{0}{1}\n{0}Keys of {2}.\n",
                                                             found->mark, prediction, found->keys);
  return {head + found->settings(facts), std::string(found->note)};
}

} // namespace stepsim::study
