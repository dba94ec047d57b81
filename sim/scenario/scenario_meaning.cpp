// Which keys go together. A rule says where a key has a meaning; elsewhere the key is an error, and
// the resolved scenario leaves it out. Keys of one algorithm, schedule or method are refused where
// they are read; here is what depends on several objects of the file.
#include <algorithm>
#include <array>
#include <string>

#include "scenario/exchange.hpp"
#include "scenario/scenario_parts.hpp"

namespace stepsim::study {

namespace {

using coll::AlgorithmId;
using coll::CompressionMethod;

bool is_async(const Scenario& s) {
  return s.training.algorithm == TrainingAlgorithm::parameter_server && s.training.async;
}
bool is_pipe(const Scenario& s) { return s.training.algorithm == TrainingAlgorithm::pipe_sgd; }
bool is_simulated(const Scenario& s) { return s.cluster.network.model != NetworkModel::alpha_beta; }
bool is_no_flow(const Scenario& s) { return s.cluster.network.model != NetworkModel::flow; }
bool topology_counts(const Scenario& s) {
  return s.cluster.topology_gives_latency || s.cluster.topology_gives_bandwidth;
}
bool has_curve(const Scenario& s) { return s.cluster.network.curve.has_value(); }
bool is_blocked(AlgorithmId algorithm) {
  return algorithm == AlgorithmId::lp || algorithm == AlgorithmId::double_binary_tree;
}

bool has_two_levels(const Scenario& s) { return s.cluster.intra && s.cluster.gpus_per_node > 1; }
bool is_hierarchical(const Scenario& s) {
  return s.communication.collective == AlgorithmId::hierarchical ||
         s.communication.collective == AlgorithmId::hierarchical_leader;
}
net::TransportKind transport_of(const Scenario& s) {
  return s.cluster.network.packet.options.transport.kind;
}

bool acknowledges(net::TransportKind kind) {
  return kind != net::TransportKind::raw && kind != net::TransportKind::dlcp;
}
bool has_background(const Scenario& s) { return s.cluster.network.packet.background.load > 0; }
// Only dlcp sends packets that may be lost.
bool drops_by_class(const Scenario& s) {
  return transport_of(s) == net::TransportKind::dlcp || has_background(s);
}

// What stands in the way, in words.
std::string algorithm_word(const Scenario& s) {
  return is_async(s) ? "mode async" : std::string(kTrainingAlgorithms[s.training.algorithm]);
}
std::string model_word(const Scenario& s) {
  return "network model " + std::string(kNetworkModels[s.cluster.network.model]);
}
std::string method_word(const Scenario& s) {
  return "compression " + std::string(coll::row(s.communication.compression.method).name);
}
std::string collective_word(const Scenario& s) {
  return "collective " + std::string(coll::name(s.communication.collective));
}
std::string transport_word(const Scenario& s) {
  return "transport " + std::string(net::kTransportKinds[transport_of(s)]);
}
std::string curve_word(const Scenario& s) {
  return s.training.exchange ? "exchanges of a given exchange_s" : "measured exchanges";
}

// True where the evaluators of collectives tell how long a dense exchange takes.
bool is_evaluated(const Scenario& s) { return !has_curve(s); }

struct KeyRule {
  std::string_view pointer;
  bool (*meaningful)(const Scenario&);
  std::string (*where)(const Scenario&);
};

constexpr std::array kRules{
    KeyRule{"/method", is_evaluated, curve_word},
    KeyRule{"/method",
            [](const Scenario& s) {
              return !is_async(s) ||
                     s.method.value_or(coll::Method::events) == coll::Method::events;
            },
            algorithm_word},
    KeyRule{"/workload/layer_overhead_s",
            [](const Scenario& s) { return !s.workload_source.profile.measured; },
            [](const Scenario&) { return std::string("measured times"); }},
    KeyRule{"/workload/backward_factor",
            [](const Scenario& s) {
              return !s.workload_source.profile.measured || s.workload_source.measured_compute;
            },
            [](const Scenario&) { return std::string("measured forward_s and backward_s"); }},
    KeyRule{"/cluster/intra_network",
            [](const Scenario& s) {
              return s.cluster.gpus_per_node > 1 || !s.cluster.rank_placement.is_null();
            },
            [](const Scenario&) { return std::string("one GPU a node"); }},
    KeyRule{
        "/cluster/topology",
        [](const Scenario& s) { return is_simulated(s) || (topology_counts(s) && !has_curve(s)); },
        [](const Scenario& s) {
          return model_word(s) + (has_curve(s) ? " with " + curve_word(s)
                                  : s.cluster.network.calibration.empty()
                                      ? " beside latency_s and bandwidth_Bps"
                                      : " beside a calibration");
        }},
    KeyRule{"/cluster/rank_placement",
            [](const Scenario& s) { return is_simulated(s) || topology_counts(s); },
            [](const Scenario&) { return std::string("a cluster without a topology"); }},
    KeyRule{"/cluster/network/block_latency_s",
            [](const Scenario& s) {
              const Communication& c = s.communication;
              const bool two_level = c.collective == AlgorithmId::hierarchical ||
                                     c.collective == AlgorithmId::hierarchical_leader;
              return !is_simulated(s) &&
                     (c.collective == AlgorithmId::automatic || is_blocked(c.collective) ||
                      (two_level && is_blocked(c.options.inter_algorithm)));
            },
            [](const Scenario& s) { return is_simulated(s) ? model_word(s) : collective_word(s); }},
    KeyRule{"/cluster/network/cost", [](const Scenario& s) { return !is_compressed(s); },
            method_word},
    KeyRule{"/cluster/network/cost", [](const Scenario& s) { return !is_async(s); },
            algorithm_word},
    KeyRule{"/cluster/network/cost", [](const Scenario& s) { return !s.training.exchange; },
            curve_word},
    KeyRule{"/training/exchange_s", [](const Scenario& s) { return !is_compressed(s); },
            method_word},
    KeyRule{"/training/discard_iterations",
            [](const Scenario& s) { return !is_pipe(s) && !is_async(s); },
            [](const Scenario& s) {
              return algorithm_word(s) + ", which counts the second half of a run";
            }},
    KeyRule{"/training/input_pipelined",
            [](const Scenario& s) { return s.training.input.value > 0; },
            [](const Scenario&) { return std::string("training without input_s"); }},
    KeyRule{"/training/max_width",
            [](const Scenario& s) { return !is_pipe(s) || !s.training.pipeline_width; },
            [](const Scenario&) { return std::string("a given pipeline_width"); }},
    KeyRule{"/training/width_tolerance",
            [](const Scenario& s) { return !is_pipe(s) || !s.training.pipeline_width; },
            [](const Scenario&) { return std::string("a given pipeline_width"); }},
    KeyRule{"/training/warmup_switch",
            [](const Scenario& s) { return !is_pipe(s) || s.training.warmup_iterations > 0; },
            [](const Scenario&) { return std::string("training without warmup_iterations"); }},
    KeyRule{"/training/server_split", // alpha_beta has even parts
            [](const Scenario& s) { return !s.training.whole_split || is_simulated(s); },
            [](const Scenario& s) { return model_word(s) + ", whose parts are even"; }},
    KeyRule{"/training/server_split",
            [](const Scenario& s) {
              return !s.training.whole_split || s.communication.options.servers > 1;
            },
            [](const Scenario&) { return std::string("one server"); }},
    KeyRule{"/cluster/network/packet/ack_bytes",
            [](const Scenario& s) { return acknowledges(transport_of(s)) || has_background(s); },
            transport_word},
    KeyRule{"/cluster/network/packet/drop_packets/droppable", drops_by_class, transport_word},
    KeyRule{"/cluster/network/packet/drop_packets/middle", drops_by_class, transport_word},
    KeyRule{"/cluster/network/packet/queues",
            [](const Scenario& s) { return transport_of(s) == net::TransportKind::dlcp; },
            transport_word},
    KeyRule{"/cluster/network/packet/spray_offset",
            [](const Scenario& s) {
              return s.cluster.network.packet.options.load_balancing ==
                     net::LoadBalancing::spray_round_robin;
            },
            [](const Scenario& s) {
              return "load_balancing " +
                     std::string(
                         net::kLoadBalancings[s.cluster.network.packet.options.load_balancing]);
            }},
    KeyRule{"/cluster/network/packet/wire_overhead_bytes",
            [](const Scenario& s) { return is_no_flow(s) || s.cluster.network.count_headers; },
            model_word},
    KeyRule{"/communication/next_forward",
            [](const Scenario& s) { return !is_pipe(s) && !is_async(s); }, algorithm_word},
    KeyRule{"/communication/overlap_backward", [](const Scenario& s) { return !is_async(s); },
            algorithm_word},
    KeyRule{"/communication/copy_bandwidth_Bps", [](const Scenario& s) { return !is_async(s); },
            algorithm_word},
    KeyRule{"/communication/candidates", is_evaluated, curve_word},
    KeyRule{"/communication/block_bytes", is_evaluated, curve_word},
    KeyRule{"/communication/reduction_mode", is_evaluated, curve_word},
    KeyRule{"/communication/chunking", is_evaluated, curve_word},
    KeyRule{"/communication/cost_form", is_evaluated, curve_word},
    KeyRule{"/communication/cost_form", [](const Scenario& s) { return !is_async(s); },
            algorithm_word},
    KeyRule{"/communication/cost_form",
            [](const Scenario& s) {
              return s.communication.options.cost_form == coll::CostForm::exact ||
                     !has_two_levels(s) || is_hierarchical(s);
            },
            [](const Scenario& s) { return collective_word(s) + " on nodes with several GPUs"; }},
    KeyRule{"/communication/lp_last_hop", is_evaluated, curve_word},
    KeyRule{"/communication/intra_algorithm", is_evaluated, curve_word},
    KeyRule{"/communication/inter_algorithm", is_evaluated, curve_word},
    KeyRule{"/communication/ring_startup", is_evaluated, curve_word},
    KeyRule{"/communication/ring_startup",
            [](const Scenario& s) { return s.communication.collective == AlgorithmId::ring; },
            collective_word},
    KeyRule{"/communication/ring_startup",
            [](const Scenario& s) {
              return !is_simulated(s) && (!s.cluster.intra || s.cluster.gpus_per_node == 1);
            },
            [](const Scenario& s) {
              return is_simulated(s) ? model_word(s) : std::string("nodes with several GPUs");
            }},
    KeyRule{"/communication/compression/baseline", [](const Scenario& s) { return !is_async(s); },
            algorithm_word},
    KeyRule{"/communication/compression/scale_agreement",
            [](const Scenario& s) { return !is_async(s); }, algorithm_word},
    KeyRule{"/communication/compression/index_bytes",
            [](const Scenario& s) {
              return s.communication.compression.method != CompressionMethod::omnireduce;
            },
            method_word},
    KeyRule{"/communication/compression/value_bytes",
            [](const Scenario& s) {
              const CompressionMethod method = s.communication.compression.method;
              return method != CompressionMethod::omnireduce && method != CompressionMethod::qsgd &&
                     method != CompressionMethod::signsgd;
            },
            method_word},
    KeyRule{"/variability/exchange_cv",
            [](const Scenario& s) { return !is_async(s) || s.variability.exchange_cv == 0; },
            algorithm_word},
};

// What packets alone have; flows take sizes, paths and the loss bound of dlcp from the block.
constexpr std::array<std::string_view, 23> kPacketKeys{
    "/cluster/network/packet/control_bytes",
    "/cluster/network/packet/ack_bytes",
    "/cluster/network/packet/queues",
    "/cluster/network/packet/switch_latency_s",
    "/cluster/network/packet/buffer",
    "/cluster/network/packet/mark_packets",
    "/cluster/network/packet/drop_packets",
    "/cluster/network/packet/spray_offset",
    "/cluster/network/packet/queue_discipline",
    "/cluster/network/packet/faults",
    "/cluster/network/packet/background",
    "/cluster/network/packet/transport/priority",
    "/cluster/network/packet/transport/priority_map",
    "/cluster/network/packet/transport/selective_drop",
    "/cluster/network/packet/transport/front_fraction",
    "/cluster/network/packet/transport/large_fraction",
    "/cluster/network/packet/transport/protect_large",
    "/cluster/network/packet/transport/rate_control",
    "/cluster/network/packet/transport/feedback_packets",
    "/cluster/network/packet/transport/rate_floor",
    "/cluster/network/packet/transport/loss_fill",
    "/cluster/network/packet/transport/rescale",
    "/cluster/network/packet/transport/control_lossy"};
template <class Visit> void for_each_rule(Visit visit) {
  for (const KeyRule& rule : kRules) {
    visit(rule);
  }
  for (const std::string_view pointer : kPacketKeys) {
    visit(KeyRule{pointer, is_no_flow, model_word});
  }
}

// Latency and bandwidth may be in the file for other runs; a measured exchange takes their place.
constexpr std::array<std::string_view, 5> kLinkKeys{
    "/cluster/network/latency_s", "/cluster/network/bandwidth_Bps", "/cluster/network/efficiency",
    "/cluster/network/block_latency_s", "/cluster/network/reduction_Bps"};

// Beside none, keys of compressions wait for another method.
bool waits(const Scenario& scenario, std::string_view pointer) {
  return pointer.starts_with("/communication/compression/") && !is_compressed(scenario);
}

// What the link does counts for nothing where exchanges have given times.
bool ignores_link(const Scenario& scenario) {
  return has_curve(scenario) && !is_simulated(scenario);
}

void warn_of_link(const io::Json& tree, Scenario& scenario) {
  if (!ignores_link(scenario)) {
    return;
  }
  std::string unused;
  for (const std::string_view pointer : kLinkKeys) {
    if (is_given(tree, pointer)) {
      unused += (unused.empty() ? "" : ", ") + std::string(pointer);
    }
  }
  if (!unused.empty()) {
    scenario.warnings.push_back(unused +
                                (unused.find(',') == std::string::npos ? " has" : " have") +
                                " no effect: the times of " + curve_word(scenario) + " count");
  }
}

void warn_of_interfaces(Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  if (cluster.nics_per_node > cluster.gpus_per_node) {
    scenario.warnings.push_back(
        "unused_nics: nics_per_node is " + std::to_string(cluster.nics_per_node) +
        ", but a node has " + std::to_string(cluster.gpus_per_node) +
        (cluster.gpus_per_node == 1 ? " GPU" : " GPUs") + ", each of which uses one interface");
  } else if (cluster.nics_per_node > 1 &&
             scenario.communication.collective == AlgorithmId::hierarchical_leader) {
    scenario.warnings.push_back("unused_nics: nics_per_node is " +
                                std::to_string(cluster.nics_per_node) +
                                ", but hierarchical_leader sends through one interface of a node");
  }
}

} // namespace

bool is_given(const io::Json& tree, std::string_view pointer) {
  const io::Json* found = io::resolve(tree, pointer);
  return found != nullptr && !found->is_null();
}

void check_meaning(const io::Json& tree, const ParseContext& context, Scenario& scenario) {
  if (context.leftovers == Leftovers::refuse) {
    std::string_view refused; // a key is reported once
    for_each_rule([&](const KeyRule& rule) {
      if (rule.pointer == refused || rule.meaningful(scenario) || waits(scenario, rule.pointer) ||
          !is_given(tree, rule.pointer)) {
        return;
      }
      refused = rule.pointer;
      const std::size_t slash = rule.pointer.rfind('/');
      const io::Json* parent = io::resolve(tree, rule.pointer.substr(0, slash));
      const std::string_view key = rule.pointer.substr(slash + 1);
      context.problems.add(*parent, key,
                           std::string(key) + " has no meaning for " + rule.where(scenario));
    });
  }
  warn_of_link(tree, scenario);
  warn_of_interfaces(scenario);
}

void drop_meaningless(const Scenario& scenario, io::Json& tree) {
  const auto drop = [&](std::string_view pointer) {
    io::Json* place = &tree;
    std::vector<std::string> tokens = io::pointer_tokens(pointer);
    const std::string last = tokens.back();
    tokens.pop_back();
    for (const std::string& token : tokens) {
      place = place != nullptr && place->is_object() ? place->find(token) : nullptr;
    }
    if (place != nullptr && place->is_object()) {
      std::erase_if(place->as_object(), [&](const auto& entry) { return entry.first == last; });
    }
  };
  for_each_rule([&](const KeyRule& rule) {
    if (!rule.meaningful(scenario)) {
      drop(rule.pointer);
    }
  });
  if (ignores_link(scenario) && scenario.cluster.network.curve) {
    drop("/cluster/network/reduction_Bps");
  }
}

} // namespace stepsim::study
