// The resolved scenario is walked next to the file: what only the first holds is a default. Keys
// that choose no time at all are left out by name, keys without an effect here by their rule; all
// others are shown, so that a new key is listed before anybody thinks of it.
#include "scenario/scenario_tree.hpp"

#include "document/json_text.hpp"
#include "scenario/compression/scenario_compression.hpp"
#include "scenario/keys/scenario_keys.hpp"
#include "scenario/node_counts.hpp"

namespace stepsim::study {

namespace {

// Whether a default has an effect in this scenario.
// Rules look at the resolved scenario, so that they see what other defaults have become.
using Rule = bool (*)(const Scenario&);

bool exchanges_by_links(const Scenario& scenario) {
  return exchanges(scenario) && !scenario.training.exchange && !scenario.cluster.network.curve;
}

// Worth a word, because a run whose additions cost nothing is too fast by exactly them.
bool adds_for_free(const Scenario& scenario) {
  return exchanges_by_links(scenario) && scenario.cluster.network.reduction_Bps == 0;
}

bool adding_takes_time(const Scenario& scenario) {
  return exchanges_by_links(scenario) && scenario.cluster.network.reduction_Bps > 0;
}

bool asks_library(const Scenario& scenario) { return scenario.communication.question.has_value(); }
bool tries_algorithms(const Scenario& scenario) {
  return exchanges_by_links(scenario) &&
         scenario.communication.collective == collectives::AlgorithmId::automatic;
}

bool takes_ring(const Scenario& scenario) {
  return exchanges_by_links(scenario) && !asks_library(scenario) && !tries_algorithms(scenario);
}

bool starts_at_once(const Scenario& scenario) {
  return exchanges(scenario) &&
         scenario.communication.next_forward == programs::NextForward::barrier;
}
bool starts_by_layer(const Scenario& scenario) {
  return exchanges(scenario) && !starts_at_once(scenario);
}

// On a fabric the interfaces are links of their own, and the number per node has no meaning. A
// library counts the interfaces as the schedules do.
bool crosses_interfaces(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  return (exchanges_by_links(scenario) || asks_library(scenario)) &&
         joined_nodes(cluster).nodes > 1 && cluster.gpus_per_node > 1 && !cluster.fabric;
}

// Whether latency and bandwidth between nodes are those of the node type.
bool has_network_of_node(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  return cluster.node && cluster.network.calibration.empty() && cluster.topology.is_null() &&
         (exchanges_by_links(scenario) || asks_library(scenario)) &&
         joined_nodes(cluster).nodes > 1;
}

bool of_node_type(const Scenario& scenario) { return scenario.cluster.node.has_value(); }
bool of_no_node_type(const Scenario& scenario) { return !of_node_type(scenario); }

bool has_workload_update(const Scenario& scenario) {
  return scenario.training.update.value > 0; // of the trace, or estimated
}

bool has_no_update(const Scenario& scenario) { return !has_workload_update(scenario); }
bool varies(const Scenario& scenario) { return scenario.variability.random(); }

// Backward times follow from forward times.
bool takes_backward_factor(const Scenario& scenario) {
  const WorkloadSource& source = scenario.workload_source;
  return source.profile.device || source.measured_compute;
}

bool is_estimated(const Scenario& scenario) {
  return scenario.workload.provenance == layers::Provenance::estimated;
}

bool has_estimated_update(const Scenario& scenario) {
  return is_estimated(scenario) && has_workload_update(scenario);
}

bool has_traced_update(const Scenario& scenario) {
  return !is_estimated(scenario) && has_workload_update(scenario);
}

bool has_device(const Scenario& scenario) {
  return scenario.workload_source.profile.device.has_value();
}

// Other items would make other messages.
bool cuts_by_gradient(const Scenario& scenario) {
  const buckets::Schedule schedule = scenario.communication.schedule;
  if (!exchanges(scenario) || schedule == buckets::Schedule::single ||
      schedule == buckets::Schedule::trace) {
    return false;
  }
  const auto& gradients = scenario.workload.gradients;
  return scenario.workload_source.profile.granularity != layers::Granularity::tensor ||
         std::ranges::adjacent_find(gradients, {}, &layers::Gradient::layer) != gradients.end();
}

// Where a default matters, if not wherever gradients are exchanged. `decisive` ones are worth a
// word on the terminal. The reason is that of the key's row unless it depends on the scenario.
struct Row {
  std::string_view pointer;
  Rule applies = exchanges;
  bool decisive = false;
  std::string_view reason = {};
};

constexpr std::string_view kPrice = "/job/price_per_gpu_hour";
// A key may have several rows with different conditions: at most one of them holds.
constexpr std::array kDefaultRows{
    Row{"/cluster/gpus_per_node", of_node_type, true},
    Row{"/cluster/gpus_per_node", of_no_node_type},
    Row{"/cluster/intra_network", exchanges, true},
    Row{"/cluster/nics_per_node", crosses_interfaces, true},
    Row{"/cluster/nvlink_domain_nodes", nullptr, true},
    Row{"/cluster/nvls_Bps", exchanges_by_links},
    Row{"/cluster/nvls_startup_s", exchanges_by_links},
    Row{"/cluster/switch_latency_s", exchanges_by_links, true},
    Row{"/cluster/network/block_latency_s", exchanges_by_links},
    Row{"/cluster/network/efficiency", exchanges_by_links},
    Row{"/cluster/network/reduction_Bps", adds_for_free, true},
    Row{"/communication/chunking", exchanges_by_links},
    Row{"/communication/collective", takes_ring},
    Row{"/communication/collective", tries_algorithms, true, "several GPUs per node"},
    Row{"/communication/collective", asks_library, true,
        "a node type or a calibration of the library is given"},
    Row{"/communication/cost_form", exchanges_by_links},
    Row{"/communication/element_bytes", exchanges_by_links},
    Row{"/communication/next_forward", starts_by_layer},
    Row{"/communication/next_forward", starts_at_once, false,
        "workers of servers start again together"},
    Row{"/communication/pipeline_chunks", exchanges_by_links},
    Row{"/communication/reduction_mode", adding_takes_time},
    Row{"/communication/ring_startup", exchanges_by_links},
    Row{kPrice, nullptr, true},
    Row{"/job/tokens_per_sample", nullptr, true},
    Row{"/training/input_pipelined", nullptr},
    Row{"/training/input_s", nullptr},
    Row{"/training/mode", exchanges, true},
    Row{"/training/pipeline_width", exchanges, true},
    Row{"/training/placement", exchanges, true},
    Row{"/training/servers", exchanges, true},
    Row{"/training/sharding/preset", exchanges, true},
    Row{"/training/update_s", has_no_update, false, "the workload has no update"},
    Row{"/training/update_s", has_estimated_update, false, "30 bytes of memory per parameter"},
    Row{"/training/update_s", has_traced_update, false, "update and framework time of the trace"},
    Row{"/variability/compute_cv", nullptr},
    Row{"/variability/distribution", varies},
    Row{"/workload/backward_factor", takes_backward_factor, true},
    Row{"/workload/device/utilization", has_device, true},
    Row{"/workload/dtype", is_estimated, true},
    Row{"/workload/granularity", cuts_by_gradient, true},
    Row{"/workload/layer_overhead_s", has_device},
    Row{"/workload/recompute", is_estimated, true},
    Row{"/workload/sequence_length", is_estimated, true},
};

// Keys that are no assumption about a time: names, evaluation, and what is derived.
constexpr auto kNoTimes = std::to_array<std::string_view>(
    {"/schema_version", "/kind", "/name", "/seed", "/method", "/limits", "/training/iterations",
     "/training/discard_iterations", "/training/max_width", "/training/width_tolerance",
     "/training/convergence", "/variability/stragglers", "/workload/batch_size",
     "/workload/accept_estimate", "/cluster/network/copy_engines",
     kNetworkPointer<&Network::latency_s>, kNetworkPointer<&Network::delay_s>,
     kNetworkPointer<&Network::bandwidth_Bps>, "/communication/compression/method"});

// /workload/3/device -> /workload/device
std::string without_job(const std::string& pointer) {
  constexpr std::string_view kJobs = "/workload/";
  if (!pointer.starts_with(kJobs)) {
    return pointer;
  }
  const std::size_t end = pointer.find_first_not_of("0123456789", kJobs.size());
  return end == kJobs.size() || end == std::string::npos || pointer[end] != '/'
             ? pointer
             : std::string(kJobs.substr(0, kJobs.size() - 1)) + pointer.substr(end);
}

// What the default schedule follows from.
std::string schedule_reason(const Scenario& scenario) {
  switch (scenario.communication.schedule) {
  case buckets::Schedule::trace:
    return base::counted(std::ssize(scenario.workload.buckets), "measured bucket");
  case buckets::Schedule::ddp:
    return "buckets of PyTorch";
  default:
    return "gradients are exchanged whole";
  }
}

constexpr std::string_view kConditionsFactors = "/conditions/factors/";

// Resolved scenario and file are walked in step; the file may lack whole objects.
class Walk {
public:
  Walk(const Scenario& scenario, std::vector<DefaultValue>& out) : scenario_(scenario), out_(out) {}

  // `given`: the same place of the file, null if it is not there.
  void compare(const io::Json& resolved, const io::Json* given, const std::string& pointer) {
    if (std::ranges::find(kNoTimes, pointer) != kNoTimes.end() ||
        pointer.starts_with("/cluster/intra_network/")) {
      return;
    }
    const bool is_given = given != nullptr && !given->is_null();
    // A network inside the node that comes from a calibration is one default and not one per
    // number.
    const bool whole = (pointer == "/cluster/intra_network" && !is_given) ||
                       pointer.starts_with(kConditionsFactors);
    if (resolved.is_object() && !whole) {
      for (const auto& [key, value] : resolved.as_object()) {
        compare(value, is_given ? given->find(key) : nullptr,
                pointer + "/" + io::escape_token(key));
      }
    } else if (pointer == "/workload" && resolved.is_array()) {
      for (std::size_t job = 0; job < resolved.as_array().size(); ++job) {
        compare(resolved.as_array()[job], &given->as_array()[job],
                pointer + "/" + std::to_string(job));
      }
    } else if (!is_given) {
      add(resolved, pointer);
    }
  }

private:
  void add(const io::Json& value, const std::string& pointer) {
    const std::string key = without_job(pointer);
    if (key == "/communication/schedule") {
      if (exchanges(scenario_)) {
        out_.insert(out_.begin(), {pointer, value, schedule_reason(scenario_), true});
      }
      return;
    }
    const bool node = of_node(key);
    bool known = false;
    for (const Row& row : kDefaultRows) {
      known = known || row.pointer == key;
      if (row.pointer == key && (row.applies == nullptr || row.applies(scenario_))) {
        const std::string reason(row.reason.empty() ? reason_of(key) : row.reason);
        out_.push_back({pointer, value, node ? node_reason(key) : reason, row.decisive, node});
      }
    }
    if (!known && exchanges(scenario_)) {
      out_.push_back({pointer, value, node ? node_reason(key) : other_reason(key), false, node});
    }
  }

  // Keys that a node type fills.
  [[nodiscard]] bool of_node(std::string_view key) const {
    return scenario_.cluster.node &&
           (key == "/cluster/gpus_per_node" || key == "/cluster/nics_per_node" ||
            key == "/cluster/intra_network" || key == "/cluster/nvlink_domain_nodes" ||
            key == "/cluster/nvls_Bps" || key == "/cluster/nvls_startup_s" || key == kPrice);
  }
  [[nodiscard]] std::string node_reason(std::string_view key) const {
    const NodeSource& node = *scenario_.cluster.node;
    return "node type " + node.type.name + (key == kPrice ? ", " + node.price_source : "");
  }

  [[nodiscard]] static std::string_view reason_of(std::string_view pointer) {
    const io::Key* key = io::key_at(keys::kScenario, pointer);
    return key == nullptr ? std::string_view{} : key->reason;
  }

  // Keys of the schedule, of the compression and of the packet level have no reason of their own.
  [[nodiscard]] std::string other_reason(std::string_view key) const {
    if (key.starts_with(kConditionsFactors)) {
      const std::string& file = scenario_.conditions.file;
      return std::string(meaning(*kFactors.find(key.substr(kConditionsFactors.size())))) +
             (file.empty() ? "" : ", of " + file);
    }
    if (key == "/cluster/gpu_memory_bytes") {
      const auto& node = scenario_.cluster.node;
      const auto& gpu = scenario_.workload_source.profile.estimate;
      const auto bytes = static_cast<double>(scenario_.cluster.gpu_memory_bytes.value_or(0));
      return gpu && !(node && node->gpu_memory_bytes == bytes)
                 ? "memory of " + std::string(gpu->gpu->name)
                 : node_reason(key);
    }
    if (const std::string_view reason = reason_of(key); !reason.empty()) {
      return std::string(reason);
    }
    if (key.starts_with("/communication/compression/costs/") && assumes_low_rank_costs(scenario_)) {
      return "assumed: arithmetic at the speed of the GPU's products and memory";
    }
    if (key.starts_with("/communication/compression/")) {
      return "default of compression " +
             std::string(collectives::row(scenario_.communication.compression.method).name);
    }
    if (key.starts_with("/training/sharding/") && has_units(scenario_.training.sharding)) {
      return "default of preset " +
             std::string(kShardingPresets[scenario_.training.sharding.preset]);
    }
    if (key.starts_with("/cluster/network/packet/")) {
      return "default of the packet level";
    }
    const buckets::Planner& planner = buckets::planner(scenario_.communication.schedule);
    const std::string_view last = key.substr(key.rfind('/') + 1);
    return std::ranges::find(planner.keys, last) != planner.keys.end()
               ? "default of schedule " + std::string(planner.name)
               : "default";
  }

  const Scenario& scenario_;
  std::vector<DefaultValue>& out_;
};

} // namespace

bool always_decisive(std::string_view pointer) {
  const auto is_its = [&](const Row& row) { return row.pointer == pointer; };
  return std::ranges::any_of(kDefaultRows, is_its) &&
         std::ranges::all_of(kDefaultRows,
                             [&](const Row& row) { return row.decisive || !is_its(row); });
}

std::string defaults_text(const std::vector<DefaultValue>& defaults) {
  std::string text;
  for (const DefaultValue& each : defaults) {
    if (!each.decisive) {
      continue;
    }
    const std::string key = each.pointer.substr(each.pointer.rfind('/') + 1);
    text += (text.empty() ? "" : ", ") + key + " ";
    if (each.value.is_object()) {
      text += "of " + each.reason;
      continue;
    }
    text += each.value.is_string() ? each.value.as_string() : io::compact(each.value);
    if (key == "schedule" || key == "utilization" || key == "price_per_gpu_hour") {
      text += " (" + each.reason.substr(0, each.reason.find(';')) + ")";
    }
  }
  return text;
}

// What a resolved scenario leaves out where it is not given is added at the end: under the model of
// a library also the network of the node type.
std::vector<DefaultValue> defaults_that_decide(const io::Json& written, const Scenario& scenario) {
  std::vector<DefaultValue> defaults;
  // Layers are given wherever the scenario has a list of them.
  Walk(scenario, defaults).compare(scenario_tree(scenario, LayerList::left_out), &written, "");
  const auto is_open = [&](std::string_view pointer) {
    const io::Json* given = io::resolve(written, pointer);
    return given == nullptr || given->is_null();
  };
  const Cluster& cluster = scenario.cluster;
  if (has_network_of_node(scenario) && is_open(kNetworkPointer<&Network::bandwidth_Bps>)) {
    defaults.push_back({"/cluster/network",
                        io::tree_of<&Network::latency_s, &Network::bandwidth_Bps>(cluster.network),
                        "node type " + cluster.node->type.name, true, true});
  }
  const std::string copies = "/communication/copy_bandwidth_Bps";
  if (is_open(copies) && exchanges(scenario)) {
    defaults.push_back({copies, io::Json(), "merging gradients copies nothing"});
  }
  // Beside it, pipe_sgd has compute_slowdown in its resolved scenario.
  const Communication& communication = scenario.communication;
  const Training& training = scenario.training;
  const bool overlaps_backward =
      (training.algorithm == TrainingAlgorithm::sync_sgd || has_islands(training)) &&
      communication.overlap_backward && communication.schedule != buckets::Schedule::single;
  if (exchanges(scenario) && !training.overlap.any() &&
      (overlaps_backward || training.local.overlap_steps > 0)) {
    defaults.push_back({"/training/overlap", io::Json(), "overlap is assumed to be free"});
  }
  return defaults;
}

} // namespace stepsim::study
