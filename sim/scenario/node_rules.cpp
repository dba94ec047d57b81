#include "scenario/rules_table.hpp"

#include <array>
#include <string>

#include "collectives/algorithms.hpp"
#include "collectives/method.hpp"
#include "collectives/schedule/two_level.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

namespace {

std::string node_word(const Scenario& s) {
  return "collective " + std::string(collective_word(s.communication));
}
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
            node_word},
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
              return node_word(s) + ", which is flat and uses one network card of a node; "
                                    "two_level and ring_rails use them all";
            }},
    KeyRule{"/communication/intra_algorithm",
            "the collective is hierarchical_leader, or collnet and the value nvls",
            [](const Scenario& s) {
              return s.communication.collective == collectives::AlgorithmId::hierarchical_leader ||
                     (is_collnet(s) && may_add_in_node(s));
            },
            [](const Scenario& s) {
              return is_collnet(s) ? std::string(collectives::kCollnetInside) : node_word(s);
            }},
    KeyRule{"/cluster/nvls_Bps",
            "the collective adds in the switch of a node (nvls, nvls_tree, collnet with "
            "intra_algorithm nvls), or is auto",
            may_add_in_node, node_word},
    KeyRule{"/cluster/nvls_startup_s", "nvls_Bps has a meaning and is given",
            [](const Scenario& s) { return may_add_in_node(s) && s.cluster.nvls; },
            [](const Scenario& s) {
              return may_add_in_node(s) ? std::string("a cluster without nvls_Bps") : node_word(s);
            }},
    KeyRule{"/cluster/switch_latency_s", "the collective is collnet", is_collnet, node_word},
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
