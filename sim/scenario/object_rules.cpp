#include "scenario/rules.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/method.hpp"
#include "collectives/schedule/two_level.hpp"
#include "scenario/scenario_sharding.hpp"

namespace stepsim::study {

namespace {

bool in_rounds(const Scenario& s) { return trains_in_rounds(s.training); }
bool is_averaged(const Scenario& s) {
  return in_rounds(s) && s.training.algorithm != TrainingAlgorithm::easgd;
}
bool is_diloco(const Scenario& s) { return s.training.algorithm == TrainingAlgorithm::diloco; }
bool has_several_fragments(const Scenario& s) {
  return s.training.local.fragments > 1 || !in_rounds(s);
}
// True of everything but rounds whose steps are one operation.
bool steps_have_buckets(const Scenario& s) { return has_islands(s.training) || !in_rounds(s); }
bool is_no_island(const Scenario& s) { return !has_islands(s.training); }
bool takes_links(const Scenario& s) { return !s.training.exchange; }

std::string inner_step_word(const Scenario& s) { return training_word(s) + " with inner step"; }
std::string island_word(const Scenario&) {
  return "inner sync_sgd, whose exchanges inside and between islands differ";
}

constexpr std::array kRoundRules{
    KeyRule{"/training/local_steps /training/outer_value_bytes",
            "the algorithm is local_sgd, diloco or easgd", in_rounds, training_word},
    KeyRule{"/training/fragments /training/overlap_steps /training/fragment_pattern "
            "/training/inner /training/outer_gate /training/outer_network",
            "the algorithm is local_sgd or diloco", is_averaged, training_word},
    KeyRule{"/training/outer_update_s /training/outer_compression", "the algorithm is diloco",
            is_diloco, training_word},
    KeyRule{"/training/fragment_pattern", "fragments is above 1", has_several_fragments,
            [](const Scenario&) { return std::string("one fragment"); }},
    KeyRule{"/training/outer_network", "exchange_s is not given", takes_links,
            [](const Scenario&) { return std::string("exchanges of a given exchange_s"); }},
    KeyRule{"/training/outer_network/ranks", "inner is step", is_no_island,
            [](const Scenario&) { return std::string("inner sync_sgd: every node is an island"); }},
    KeyRule{"/training/exchange_s", "inner is not sync_sgd", is_no_island, island_word},
    KeyRule{"/communication/schedule /communication/next_forward /communication/overlap_backward "
            "/communication/plan_cost",
            "steps exchange buckets: the algorithm does not train in rounds, or inner is sync_sgd",
            steps_have_buckets, inner_step_word},
};

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

std::span<const KeyRule> local_rules() { return kRoundRules; }

namespace {

bool trains_with_servers(const Scenario& s) {
  return s.training.algorithm == TrainingAlgorithm::parameter_server;
}

constexpr std::array kServerRules{
    KeyRule{"/training/optimizer", "workers hold its state",
            [](const Scenario& s) {
              return !trains_with_servers(s) ||
                     s.communication.options.placement != collectives::Placement::dedicated;
            },
            [](const Scenario&) { return std::string("dedicated servers, which hold its state"); }},
    KeyRule{"/training/server_mode", "the mode is async or ssp",
            [](const Scenario& s) { return !trains_with_servers(s) || s.training.async(); },
            [](const Scenario&) { return std::string("mode sync"); }},
    KeyRule{"/training/staleness_bound", "the mode is ssp",
            [](const Scenario& s) {
              return !trains_with_servers(s) || s.training.mode == ServerMode::ssp;
            },
            [](const Scenario& s) { return "mode " + std::string(kServerModes[s.training.mode]); }},
    KeyRule{"/training/server_split",
            "the parts are even, or the network is simulated", // alpha_beta has even parts
            [](const Scenario& s) { return !s.training.whole_split || is_simulated(s); },
            [](const Scenario& s) { return model_word(s) + ", whose parts are even"; }},
    KeyRule{"/training/server_split", "the parts are even, or there are several servers",
            [](const Scenario& s) {
              return !s.training.whole_split || s.communication.options.servers > 1;
            },
            [](const Scenario&) { return std::string("one server"); }},
};

} // namespace

std::span<const KeyRule> server_rules() { return kServerRules; }

namespace {

bool has_measured_times(const Scenario& s) {
  return s.workload_source.profile.measured.has_value();
}
bool has_gpu_times(const Scenario& s) { return s.workload_source.profile.estimate.has_value(); }
std::string measured_word(const Scenario&) { return "measured times"; }
std::string gpu_word(const Scenario&) { return "times of a gpu"; }
std::string other_word(const Scenario&) { return "a workload without a gpu"; }

constexpr std::array kWorkloadRules{
    KeyRule{"/workload/layer_overhead_s", "the times are not measured",
            [](const Scenario& s) { return !has_measured_times(s); }, measured_word},
    KeyRule{"/workload/layer_overhead_s", "no gpu is given",
            [](const Scenario& s) { return !has_gpu_times(s); }, gpu_word},
    KeyRule{"/workload/backward_factor", "no measured forward_s and backward_s are given",
            [](const Scenario& s) {
              return !has_measured_times(s) || s.workload_source.measured_compute;
            },
            [](const Scenario&) { return std::string("measured forward_s and backward_s"); }},
    KeyRule{"/workload/backward_factor", "no gpu is given",
            [](const Scenario& s) { return !has_gpu_times(s); }, gpu_word},
    KeyRule{"/workload/dtype /workload/recompute /workload/accept_estimate "
            "/workload/measured_step",
            "a gpu is given", has_gpu_times, other_word},
};

} // namespace

std::span<const KeyRule> workload_rules() { return kWorkloadRules; }

namespace {

bool is_collnet(const Scenario& s) { return s.communication.collective == collectives::kCollnet; }
bool may_add_in_node(const Scenario& s) {
  const collectives::AlgorithmId id = s.communication.collective;
  return id == collectives::kNvls || id == collectives::kNvlsTree ||
         id == collectives::AlgorithmId::automatic ||
         (is_collnet(s) && s.communication.options.intra_algorithm == collectives::kNvls);
}

constexpr std::array kNodeRules{
    KeyRule{"/communication/pipeline_chunks", "the collective is two_level or collnet",
            [](const Scenario& s) {
              return collectives::takes_chunks(s.communication.collective,
                                               collectives::Op::allreduce);
            },
            asked_collective},
    KeyRule{"/cluster/nics_per_node",
            "it is 1, or the collective can use several interfaces of a node",
            [](const Scenario& s) {
              const Cluster& cluster = s.cluster;
              return cluster.nics_per_node <= 1 || cluster.gpus_per_node == 1 ||
                     cluster.nodes == 1 || is_simulated(s) || is_compressed(s) || has_curve(s) ||
                     needs_servers(s.training.algorithm) ||
                     !collectives::leaves_nodes_once(exchange_of(s));
            },
            [](const Scenario& s) {
              return asked_collective(s) + ", which is flat and uses one network card of a node; "
                                           "two_level and ring_rails use them all";
            }},
    KeyRule{"/communication/intra_algorithm",
            "the collective is hierarchical_leader, or collnet and the value nvls",
            [](const Scenario& s) {
              return s.communication.collective == collectives::AlgorithmId::hierarchical_leader ||
                     (is_collnet(s) && may_add_in_node(s));
            },
            [](const Scenario& s) {
              return is_collnet(s) ? std::string(collectives::kCollnetInside) : asked_collective(s);
            }},
    KeyRule{"/cluster/nvls_Bps",
            "the collective adds in the switch of a node (nvls, nvls_tree, collnet with "
            "intra_algorithm nvls), or is auto",
            may_add_in_node, asked_collective},
    KeyRule{"/cluster/nvls_startup_s", "nvls_Bps has a meaning and is given",
            [](const Scenario& s) { return may_add_in_node(s) && s.cluster.nvls; },
            [](const Scenario& s) {
              return may_add_in_node(s) ? std::string("a cluster without nvls_Bps")
                                        : asked_collective(s);
            }},
    KeyRule{"/cluster/switch_latency_s", "the collective is collnet", is_collnet, asked_collective},
    KeyRule{"/cluster/nvlink_domain_nodes",
            "the network model is alpha_beta, and no measured curve gives the times of messages",
            [](const Scenario& s) {
              return !is_simulated(s) && (!has_curve(s) || s.communication.question);
            },
            [](const Scenario& s) {
              return is_simulated(s)
                         ? "network model " + std::string(kNetworkModels[s.cluster.network.model])
                         : std::string("times of messages that are read from a curve");
            }},
};

} // namespace

std::span<const KeyRule> node_rules() { return kNodeRules; }

std::span<const KeyRule> sharding_rules() { return kShardingRules; }

} // namespace stepsim::study
