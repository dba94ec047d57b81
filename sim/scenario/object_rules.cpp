#include "scenario/rules.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/method.hpp"
#include "collectives/schedule/two_level.hpp"

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

} // namespace stepsim::study
