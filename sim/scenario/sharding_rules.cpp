#include "scenario/rules.hpp"

namespace stepsim::study {

namespace {

bool shards(const Scenario& s) {
  return s.training.sharding.strategy != ShardingStrategy::none || !is_sync(s);
}
bool is_zero(const Scenario& s) {
  return s.training.sharding.strategy == ShardingStrategy::zero1 ||
         s.training.sharding.strategy == ShardingStrategy::zero2;
}
// Keys below an object that has no meaning itself are not reported once more.
bool units(const Scenario& s) { return has_units(s.training.sharding) || !is_sync(s); }
bool gathers_again(const Scenario& s) {
  return s.training.sharding.reshard_after_forward || !units(s) || !is_sync(s);
}

bool gathers_all(const Scenario& s) { return !has_owners(s.training.sharding); }

std::string gather_by_word(const Scenario& s) {
  return "gather_by " + std::string(kGatherBys[s.training.sharding.gather_by]);
}
std::string sharding_word(const Scenario& s) {
  return "sharding " + std::string(kShardingStrategies[s.training.sharding.strategy]);
}
std::string kept_word(const Scenario& s) {
  return s.training.sharding.strategy == ShardingStrategy::shard_grad_op
             ? sharding_word(s)
             : "reshard_after_forward false";
}

constexpr std::string_view kGathersAgain = "parameters are freed after forward";

constexpr std::array kShardingRules{
    KeyRule{"/training/gradient_lifetime",
            "nothing else keeps gradients: micro-batches, sharding, views of buckets, algorithms "
            "that apply them late",
            may_free_gradients,
            [](const Scenario&) { return std::string("training that keeps gradients anyway"); }},
    KeyRule{"/training/micro_batches", "the algorithm is sync_sgd",
            [](const Scenario& s) { return accumulates(s.training.algorithm); }, training_word},
    KeyRule{"/training/sharding /training/accumulation_exchange", "the algorithm is sync_sgd",
            is_sync, training_word},
    KeyRule{"/training/sharding/shard_ranks", "sharding is hybrid_shard",
            [](const Scenario& s) {
              return s.training.sharding.strategy == ShardingStrategy::hybrid_shard;
            },
            sharding_word},
    KeyRule{"/training/accumulation_exchange", "micro_batches is above 1",
            [](const Scenario& s) { return s.training.micro_batches > 1 || !is_sync(s); },
            [](const Scenario&) { return std::string("one micro-batch"); }},
    KeyRule{"/training/accumulation_exchange",
            "sharding is neither zero1, which reduces the last micro-batch, nor zero2, which "
            "reduces each",
            [](const Scenario& s) { return !is_zero(s); }, sharding_word},
    KeyRule{"/training/sharding/gather", "sharding is zero1 or zero2",
            [](const Scenario& s) { return is_zero(s) || !is_sync(s); }, sharding_word},
    KeyRule{"/training/sharding/gather /training/sharding/parameter_compression",
            "gather_by is all_gather", gathers_all, gather_by_word},
    KeyRule{"/training/sharding/gather_by", "sharding is zero1",
            [](const Scenario& s) {
              return s.training.sharding.strategy == ShardingStrategy::zero1 || !is_sync(s);
            },
            sharding_word},
    KeyRule{"/communication/ring_startup",
            "gradients are all-reduced: sharding none, or gather_by is broadcast_tensors or "
            "broadcast_view",
            [](const Scenario& s) {
              return s.training.sharding.strategy == ShardingStrategy::none || !gathers_all(s);
            },
            sharding_word},
    KeyRule{"/cluster/network/broadcast_cost", "gather_by is broadcast_tensors or broadcast_view",
            [](const Scenario& s) { return !gathers_all(s); }, gather_by_word},
    KeyRule{"/cluster/network/broadcast_cost", "cost is given",
            [](const Scenario& s) {
              return !s.cluster.network.cost_file.empty() ||
                     s.cluster.network.cost_tree.is_object();
            },
            [](const Scenario&) { return std::string("a network without cost"); }},
    KeyRule{"/training/sharding/limit_all_gathers", "the preset is fsdp1",
            [](const Scenario& s) {
              return s.training.sharding.preset == ShardingPreset::fsdp1 || !units(s);
            },
            [](const Scenario& s) {
              return "preset " + std::string(kShardingPresets[s.training.sharding.preset]);
            }},
    KeyRule{"/training/sharding/reshard_after_forward", "sharding is not shard_grad_op",
            [](const Scenario& s) {
              return s.training.sharding.strategy != ShardingStrategy::shard_grad_op;
            },
            sharding_word},
    KeyRule{"/training/sharding/reshard_after_backward", "micro_batches is above 1",
            [](const Scenario& s) { return s.training.micro_batches > 1 || !units(s); },
            [](const Scenario&) { return std::string("one micro-batch"); }},
    KeyRule{"/training/sharding/ahead_backward", kGathersAgain, gathers_again, kept_word},
    KeyRule{"/training/sharding/ahead_backward", "backward_prefetch is pre",
            [](const Scenario& s) {
              return s.training.sharding.backward_prefetch == programs::BackwardPrefetch::pre;
            },
            [](const Scenario& s) {
              return "backward_prefetch " +
                     std::string(kBackwardPrefetches[s.training.sharding.backward_prefetch]);
            }},
    KeyRule{"/training/sharding/backward_prefetch /training/sharding/keep_last", kGathersAgain,
            gathers_again, kept_word},
    KeyRule{"/communication/next_forward", "nothing is sharded",
            [](const Scenario& s) { return !shards(s) || !is_sync(s); }, sharding_word},
    KeyRule{"/communication/overlap_backward /communication/schedule",
            "parameters are not sharded, which makes units of layers",
            [](const Scenario& s) { return !has_units(s.training.sharding); }, sharding_word},
    KeyRule{"/training/sharding/parameter_compression /training/sharding/parameter_bytes "
            "/training/sharding/reduce_bytes",
            "anything is sharded", shards, sharding_word},
    KeyRule{"/training/sharding/preset /training/sharding/max_unit_parameters "
            "/training/sharding/label_limit /training/sharding/wrapping "
            "/training/sharding/ahead_forward /training/sharding/ahead_backward "
            "/training/sharding/reduces_in_flight /training/sharding/backward_prefetch "
            "/training/sharding/forward_prefetch /training/sharding/limit_all_gathers "
            "/training/sharding/reshard_after_forward /training/sharding/reshard_after_backward "
            "/training/sharding/keep_last /training/sharding/communicators",
            "sharding is full_shard, shard_grad_op or hybrid_shard: parameters are sharded", units,
            sharding_word},
};

} // namespace

std::span<const KeyRule> sharding_rules() { return kShardingRules; }

} // namespace stepsim::study
