// The rows of the feature matrix for packets and transports.
#include "scenario/rules.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/method.hpp"
#include "collectives/schedule/two_level.hpp"
#include "scenario/scenario_conditions.hpp"
#include "scenario/scenario_training.hpp"

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

bool shards(const Scenario& s) { return s.training.sharding.any() || !is_sync(s); }
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

bool trains_with_servers(const Scenario& s) {
  return s.training.algorithm == TrainingAlgorithm::parameter_server;
}

bool has_measured_times(const Scenario& s) {
  return s.workload_source.profile.measured.has_value();
}
bool has_gpu_times(const Scenario& s) { return s.workload_source.profile.estimate.has_value(); }

bool is_collnet(const Scenario& s) { return s.communication.collective == collectives::kCollnet; }
bool may_add_in_node(const Scenario& s) {
  const collectives::AlgorithmId id = s.communication.collective;
  return id == collectives::kNvls || id == collectives::kNvlsTree ||
         id == collectives::AlgorithmId::automatic ||
         (is_collnet(s) && s.communication.options.intra_algorithm == collectives::kNvls);
}

constexpr std::array kObjectRules{
    KeyRule{"/communication/pipeline_chunks", "the collective is two_level or collnet",
            [](const Scenario& s) {
              return collectives::takes_chunks(s.communication.collective,
                                               collectives::Op::allreduce);
            },
            asked_collective},
    KeyRule{"/cluster/nics_per_node",
            "it is 1, sharding is hybrid_shard, conditions are typical (a ring then has all cards "
            "of a machine), or the collective can use several interfaces",
            [](const Scenario& s) {
              const Cluster& cluster = s.cluster;
              return cluster.nics_per_node <= 1 || cluster.gpus_per_node == 1 ||
                     cluster.nodes == 1 || is_simulated(s) || is_compressed(s) || has_curve(s) ||
                     needs_servers(s.training.algorithm) ||
                     s.training.sharding.strategy == ShardingStrategy::hybrid_shard ||
                     is_typical(s) || !collectives::leaves_nodes_once(exchange_of(s));
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
              return is_simulated(s) ? model_word(s)
                                     : std::string("times of messages that are read from a curve");
            }},
    KeyRule{"/training/gradient_lifetime",
            "nothing else keeps gradients: micro-batches, sharding, views of buckets, algorithms "
            "that apply them late",
            may_free_gradients, "training that keeps gradients anyway"},
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
            "one micro-batch"},
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
            [](const Scenario& s) { return !s.training.sharding.any() || !gathers_all(s); },
            sharding_word},
    KeyRule{"/cluster/network/broadcast_cost", "gather_by is broadcast_tensors or broadcast_view",
            [](const Scenario& s) { return !gathers_all(s); }, gather_by_word},
    KeyRule{"/cluster/network/broadcast_cost", "cost is given",
            [](const Scenario& s) {
              return !s.cluster.network.cost_file.empty() ||
                     s.cluster.network.cost_tree.is_object();
            },
            "a network without cost"},
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
            "one micro-batch"},
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
    KeyRule{"/training/local_steps /training/outer_value_bytes",
            "the algorithm is local_sgd, diloco or easgd", in_rounds, training_word},
    KeyRule{"/training/fragments /training/overlap_steps /training/fragment_pattern "
            "/training/inner /training/outer_gate /training/outer_network",
            "the algorithm is local_sgd or diloco", is_averaged, training_word},
    KeyRule{"/training/outer_update_s /training/outer_compression", "the algorithm is diloco",
            is_diloco, training_word},
    KeyRule{"/training/fragment_pattern", "fragments is above 1", has_several_fragments,
            "one fragment"},
    KeyRule{"/training/outer_network", "exchange_s is not given", takes_links,
            "exchanges of a given exchange_s"},
    KeyRule{"/training/outer_network/ranks", "inner is step", is_no_island,
            "inner sync_sgd: every node is an island"},
    KeyRule{"/training/exchange_s", "inner is not sync_sgd", is_no_island,
            "inner sync_sgd, whose exchanges inside and between islands differ"},
    KeyRule{"/communication/schedule /communication/next_forward /communication/overlap_backward "
            "/communication/plan_cost",
            "steps exchange buckets: the algorithm does not train in rounds, or inner is sync_sgd",
            steps_have_buckets, inner_step_word},
    KeyRule{"/training/optimizer", "workers hold its state",
            [](const Scenario& s) {
              return !trains_with_servers(s) ||
                     s.communication.options.placement != collectives::Placement::dedicated;
            },
            "dedicated servers, which hold its state"},
    KeyRule{"/training/server_mode", "the mode is async or ssp",
            [](const Scenario& s) { return !trains_with_servers(s) || s.training.async(); },
            "mode sync"},
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
            "one server"},
    KeyRule{"/workload/layer_overhead_s", "the times are not measured",
            [](const Scenario& s) { return !has_measured_times(s); }, "measured times"},
    KeyRule{"/workload/backward_factor", "no measured forward_s and backward_s are given",
            [](const Scenario& s) {
              return !has_measured_times(s) || s.workload_source.measured_compute;
            },
            "measured forward_s and backward_s"},
    KeyRule{"/workload/layer_overhead_s /workload/backward_factor", "no gpu is given",
            [](const Scenario& s) { return !has_gpu_times(s); }, "times of a gpu"},
    KeyRule{"/workload/dtype /workload/recompute /workload/accept_estimate /workload/measured_step",
            "a gpu is given", has_gpu_times, "a workload without a gpu"},
};

using links::TransportKind;

bool is_no_flow(const Scenario& s) { return s.cluster.network.model != NetworkModel::flow; }
const auto& options_of(const Scenario& s) { return s.cluster.network.packet.options; }
TransportKind transport_of(const Scenario& s) { return options_of(s).transport.kind; }

// Transports without acknowledgements send no packets of that size.
bool acknowledges(TransportKind kind) {
  return kind != TransportKind::raw && kind != TransportKind::dlcp;
}
bool has_background(const Scenario& s) { return s.cluster.network.packet.background.load > 0; }
// Whether the transport of the job or of the background is one of these, where packets are sent.
bool sends_by(const Scenario& s, std::initializer_list<TransportKind> kinds) {
  return s.cluster.network.model != NetworkModel::packet ||
         std::ranges::find(kinds, transport_of(s)) != kinds.end() ||
         (has_background(s) &&
          std::ranges::find(kinds, s.cluster.network.packet.background.transport) != kinds.end());
}
// Whether every transfer of the exchanges is added by its receiver.
bool only_adds(const Scenario& s) {
  const auto kind = collectives::row(s.communication.compression.method).kind;
  return s.communication.collective == collectives::AlgorithmId::recursive_doubling &&
         std::has_single_bit(static_cast<std::uint64_t>(s.cluster.ranks())) &&
         (kind == collectives::CompressionKind::dense ||
          kind == collectives::CompressionKind::codec) &&
         !s.training.sharding.any() && !has_islands(s.training);
}
// Only dlcp sends packets that may be lost.
bool drops_by_class(const Scenario& s) {
  return transport_of(s) == TransportKind::dlcp || has_background(s);
}
std::string transport_word(const Scenario& s) {
  return "transport " + std::string(links::kTransportKinds[transport_of(s)]);
}

// The last row is what packets alone have; flows take sizes, paths and the loss bound of dlcp from
// the block.
constexpr std::array kPacketRules{
    KeyRule{"/cluster/network/packet/ack_bytes",
            "the transport or the background acknowledges packets",
            [](const Scenario& s) { return acknowledges(transport_of(s)) || has_background(s); },
            transport_word},
    KeyRule{"/cluster/network/packet/drop_packets/droppable "
            "/cluster/network/packet/drop_packets/middle",
            "the transport is dlcp, or there is background load", drops_by_class, transport_word},
    KeyRule{"/cluster/network/packet/control_bytes",
            "the messages or the background load use dlcp or pfabric",
            [](const Scenario& s) {
              return sends_by(s, {TransportKind::dlcp, TransportKind::pfabric});
            },
            transport_word},
    KeyRule{"/cluster/network/packet/mark_packets",
            "the messages or the background load use dctcp or dlcp, which read marks",
            [](const Scenario& s) {
              return sends_by(s, {TransportKind::dctcp, TransportKind::dlcp});
            },
            transport_word},
    KeyRule{"/cluster/network/packet/transport/feedback_packets "
            "/cluster/network/packet/transport/rate_floor",
            "rate_control is dctcp or timely",
            [](const Scenario& s) {
              return options_of(s).transport.dlcp.rate_control != links::RateControl::none;
            },
            "rate_control none"},
    KeyRule{"/cluster/network/packet/drop_packets/protected",
            "it is null, or the messages or the background load use raw, window or reno",
            [](const Scenario& s) {
              const auto& given = options_of(s).drop_protected;
              return !given || *given == links::kNoThreshold ||
                     sends_by(s, {TransportKind::raw, TransportKind::window, TransportKind::reno});
            },
            transport_word},
    KeyRule{
        "/cluster/network/packet/transport/loss_bound_pull",
        "it is 0, or ranks receive sums that replace earlier ones: parameters are not sharded in "
        "units, and all-reduces are not recursive_doubling of 2^k ranks",
        [](const Scenario& s) {
          return s.cluster.network.packet.bounded_loss.bound_pull == 0 ||
                 (!has_units(s.training.sharding) && !only_adds(s));
        },
        [](const Scenario& s) {
          return only_adds(s)
                     ? std::string("collective recursive_doubling, which only adds")
                     : sharding_word(s) + ", where no earlier values stand in for lost ones";
        }},
    KeyRule{"/cluster/network/packet/queues", "the transport is dlcp",
            [](const Scenario& s) { return transport_of(s) == TransportKind::dlcp; },
            transport_word},
    KeyRule{"/cluster/network/packet/spray_offset", "load_balancing is spray_round_robin",
            [](const Scenario& s) {
              return options_of(s).load_balancing == links::LoadBalancing::spray_round_robin;
            },
            [](const Scenario& s) {
              return "load_balancing " +
                     std::string(links::kLoadBalancings[options_of(s).load_balancing]);
            }},
    KeyRule{"/cluster/network/packet/header_bytes /cluster/network/packet/mtu_wire_bytes",
            "the network model is packet, or flow with count_headers or a loss bound",
            [](const Scenario& s) {
              return is_no_flow(s) || s.cluster.network.count_headers || may_lose(s);
            },
            model_word},
    KeyRule{"/cluster/network/packet/wire_overhead_bytes",
            "the network model is packet, or flow with count_headers",
            [](const Scenario& s) { return is_no_flow(s) || s.cluster.network.count_headers; },
            model_word},
    KeyRule{
        "/cluster/network/packet/control_bytes /cluster/network/packet/ack_bytes "
        "/cluster/network/packet/queues /cluster/network/packet/switch_latency_s "
        "/cluster/network/packet/buffer /cluster/network/packet/mark_packets "
        "/cluster/network/packet/drop_packets /cluster/network/packet/spray_offset "
        "/cluster/network/packet/queue_discipline /cluster/network/packet/faults "
        "/cluster/network/packet/background /cluster/network/packet/transport/priority "
        "/cluster/network/packet/transport/priority_map "
        "/cluster/network/packet/transport/selective_drop "
        "/cluster/network/packet/transport/front_fraction "
        "/cluster/network/packet/transport/large_fraction "
        "/cluster/network/packet/transport/protect_large "
        "/cluster/network/packet/transport/rate_control "
        "/cluster/network/packet/transport/feedback_packets "
        "/cluster/network/packet/transport/rate_floor /cluster/network/packet/transport/loss_fill "
        "/cluster/network/packet/transport/rescale /cluster/network/packet/transport/control_lossy",
        "the network model is packet", is_no_flow, model_word},
};

} // namespace

std::span<const KeyRule> object_rules() { return kObjectRules; }

std::span<const KeyRule> packet_rules() { return kPacketRules; }

} // namespace stepsim::study
