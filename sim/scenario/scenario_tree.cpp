// The tree is written as complete as possible, and keys without a meaning are taken out at the end
// by the rules that refuse them in a file.

#include "scenario/scenario_tree.hpp"

#include "document/json_text.hpp"
#include "scenario/compression/scenario_compression.hpp"
#include "scenario/keys/scenario_keys.hpp"
#include "scenario/scenario_conditions.hpp"
#include "scenario/scenario_fabric.hpp"
#include "scenario/scenario_library.hpp"
#include "scenario/scenario_parts.hpp"
#include "scenario/scenario_schedule.hpp"

namespace stepsim::study {

namespace {

// The name of a trace or model and not its content: results would be large otherwise.
io::Json workload_tree(const WorkloadSource& source, const layers::Workload& workload,
                       LayerList layers) {
  io::Json tree{io::Object{}};
  if (!source.trace.empty()) {
    tree.set("trace", source.trace);
  } else if (!source.model.empty()) {
    tree.set("model", source.model);
    const layers::ProfileOptions& profile = source.profile;
    tree.set("backward_factor", profile.backward_factor);
    tree.set("layer_overhead_s", profile.layer_overhead.value);
    tree.set("value_bytes", profile.value_bytes);
    io::set_if(source.has_attention, tree, "attention", layers::kAttentions[profile.attention]);
    io::set_given(tree, "loss", profile.loss, layers::kLosses);
    io::set_given(tree, "kernels", profile.kernels, layers::kKernelWords);
    if (profile.device) {
      tree.set("device", io::Object{{"flops_Ps", profile.device->flops.value},
                                    {"utilization", profile.device->utilization}});
    } else if (profile.estimate) {
      set_estimate(tree, *profile.estimate);
    } else if (source.measured_compute) {
      tree.set("measured", io::Object{{"compute_s", source.measured_compute->value}});
    } else {
      tree.set("measured", io::Object{{"forward_s", profile.measured->forward.value},
                                      {"backward_s", profile.measured->backward.value}});
    }
    if (source.measured_gpus > 1) {
      tree.find("measured")->set("gpus", source.measured_gpus);
    }
    io::set_given(tree, "sequence_length", source.sequence_length);
  } else {
    io::Array all;
    if (layers == LayerList::written) {
      const InlineLayers element(workload);
      all.reserve(element.size());
      for (std::size_t layer = 0; layer < element.size(); ++layer) {
        all.push_back(element(layer));
      }
    }
    tree.set("layers", std::move(all));
  }
  io::set_given(tree, "batch_size", workload.batch_size);
  if (source.scale_backward_to && !source.layers) { // inline layers are shown as scaled
    tree.set("scale_backward_to_s", source.scale_backward_to->value);
  }
  tree.set("granularity", layers::kGranularities[source.profile.granularity]);
  return tree;
}

// One, or a list where there are several jobs.
io::Json workloads_tree(const Scenario& scenario, LayerList layers) {
  if (scenario.other_jobs.empty()) {
    return workload_tree(scenario.workload_source, scenario.workload, layers);
  }
  io::Json first = workload_tree(scenario.workload_source, scenario.workload, LayerList::written);
  first.set("nodes", scenario.first_job_nodes);
  io::Array list{std::move(first)};
  for (const OtherJob& job : scenario.other_jobs) {
    list.push_back(workload_tree(job.source, job.workload, LayerList::written));
    list.back().set("nodes", job.nodes);
  }
  return list;
}

// Where a curve or a topology gives the times, latency and bandwidth are left out: read again they
// would win over it.
io::Json cluster_tree(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  const Network& network = cluster.network;
  io::Json net{io::Object{
      {"model", nullptr}, {"reduction_Bps", network.reduction_Bps}, {"copy_engines", 2}}};
  const bool topology_counts = cluster.fabric && !cluster.topology.is_null();
  // A measured curve counts instead; beside a calibration a given link would win over its curves.
  const bool curve_counts = network.curve && !scenario.training.exchange;
  const auto overrides = [&](std::string_view pointer) {
    return std::ranges::find(cluster.overrides, pointer, &Override::pointer) !=
           cluster.overrides.end();
  };
  // As it was given: the reciprocal of a reciprocal may differ in its last digit.
  const auto rate_of = [&](std::string_view pointer, double of_node, double per_byte_s) {
    const auto given = std::ranges::find(cluster.overrides, pointer, &Override::pointer);
    return given != cluster.overrides.end() ? given->value
           : of_node > 0                    ? io::Json(of_node)
                                            : io::Json(1 / per_byte_s);
  };
  if (!topology_counts && !curve_counts && cluster.has_network) {
    io::set_if(!cluster.topology_gives_latency, net, "latency_s", network.latency_s);
    io::set_given(net, "delay_s", network.delay_s);
    io::set_if(!cluster.topology_gives_latency || network.block_latency_s < network.latency_s, net,
               "block_latency_s", network.block_latency_s);
    net.set("efficiency", network.efficiency);
  }
  if (network.bandwidth_Bps > 0 && !topology_counts && !curve_counts &&
      !cluster.topology_gives_bandwidth) {
    io::set_members<&Network::bandwidth_Bps>(network, net);
  }
  if (scenario.communication.question) { // which takes what replaces values of the node type
    net.set("efficiency", network.efficiency);
    if (overrides(kNetworkPointer<&Network::bandwidth_Bps>)) {
      io::set_members<&Network::bandwidth_Bps>(network, net);
    }
  }
  io::set_given(net, "transport", network.carrier, links::kCarriers);
  io::set_given(net, "calibration", network.calibration);
  if (!network.cost_file.empty()) {
    net.set("cost", network.cost_file);
  } else if (network.cost_tree.is_object()) {
    net.set("cost", network.cost_tree);
  }
  io::set_if(network.broadcast_curve.has_value(), net, "broadcast_cost",
             network.broadcast_cost_tree);
  io::Json tree = io::Object{{"nodes", cluster.nodes}, {"nics_per_node", cluster.nics_per_node}};
  if (cluster.equal_nodes()) {
    tree.set("gpus_per_node", cluster.gpus_per_node);
  } else {
    tree.set("ranks_per_node",
             io::Array(cluster.ranks_per_node.begin(), cluster.ranks_per_node.end()));
  }
  io::set_given(tree, "gpu_memory_bytes", cluster.gpu_memory_bytes);
  io::set_if(cluster.nvlink_domain_nodes > 1, tree, "nvlink_domain_nodes",
             cluster.nvlink_domain_nodes);
  if (cluster.nvls) {
    tree.set("nvls_Bps",
             rate_of("/cluster/nvls_Bps", cluster.node ? cluster.node->links.nvls_Bps : 0,
                     cluster.nvls->per_byte_s));
    tree.set("nvls_startup_s", cluster.nvls->startup_s);
  }
  tree.set("switch_latency_s", cluster.switch_latency_s.value_or(collectives::kSwitchLatency));
  if (cluster.node && !cluster.node->written.empty()) {
    tree.set("preset", cluster.node->written);
  }
  add_fabric_keys(cluster, tree, net);
  tree.set("network", std::move(net));
  if (cluster.intra) {
    const bool of_node = cluster.node && cluster.intra_calibration.empty();
    io::Json intra = io::tree_of<&collectives::LinkCost::latency_s>(*cluster.intra);
    intra.set(io::key_of<&Network::bandwidth_Bps>(),
              rate_of(kIntraPointer<&Network::bandwidth_Bps>,
                      of_node ? cluster.node->links.inner_Bps : 0, cluster.intra->per_byte_s));
    io::set_given(intra, "bus", cluster.bus, links::kBuses);
    io::set_given(intra, "delay_s", cluster.intra->delay_s);
    io::set_if(cluster.intra->block_latency_s != cluster.intra->latency_s, intra, "block_latency_s",
               cluster.intra->block_latency_s);
    io::set_given(intra, "calibration", cluster.intra_calibration);
    tree.set("intra_network", std::move(intra));
  }
  return tree;
}

struct ShortForm {
  std::string_view pointer;
  std::string_view key;  // of the object that a word stands for
  std::string_view of{}; // only files with this key at their root have the form; "" = all
};
// Keys of scenarios, collectives and lists of flows.
constexpr std::array kShortForms{ShortForm{"/communication/compression", "method"},
                                 ShortForm{"/conditions", "kind"},
                                 ShortForm{"/communication/library", "name"},
                                 ShortForm{"/training/sharding", "strategy"},
                                 ShortForm{"/training/sharding/parameter_compression", "method"},
                                 ShortForm{"/training/outer_compression", "method"},
                                 ShortForm{"/cluster/topology", "file"},
                                 ShortForm{"/cluster/network", "calibration"},
                                 ShortForm{"/cluster/intra_network", "calibration"},
                                 ShortForm{"/cluster/network/packet/transport", "kind"},
                                 ShortForm{"/topology", "file"},
                                 ShortForm{"/network", "calibration", "op"},
                                 ShortForm{"/intra_network", "calibration", "op"},
                                 ShortForm{"/network/packet/transport", "kind"}};

// {"name": "mine", "caps": [1, 25]}: its members become keys next to `schedule`. Any other object
// stays, and is a problem when it is read.
void expand_schedule(io::Json& scenario) {
  struct Member {
    std::string_view key, of_communication;
    bool is_schedule;
  };
  constexpr std::array kMembers{Member{"name", "schedule_name", false},
                                Member{"caps", "caps_mib", true}, Member{"groups", "groups", true}};
  const io::Json* found = io::resolve(scenario, "/communication/schedule");
  if (found == nullptr || !found->is_object()) {
    return;
  }
  const io::Json given = *found;
  std::string_view schedule;
  for (const auto& [key, value] : given.as_object()) {
    const auto member = std::ranges::find(kMembers, std::string_view(key), &Member::key);
    if (member == kMembers.end() || (member->is_schedule && !schedule.empty())) {
      return;
    }
    schedule = member->is_schedule ? member->key : schedule;
  }
  if (schedule.empty()) {
    return;
  }
  io::Json word{std::string(schedule)};
  word.set_origin(given.file_pointer(), "/communication/schedule", given.line());
  io::assign(scenario, "/communication/schedule", std::move(word));
  for (const auto& [key, of_communication, _] : kMembers) {
    if (const io::Json* value = given.find(key)) {
      io::assign(scenario, "/communication/" + std::string(of_communication), {}) = *value;
    }
  }
}

} // namespace

// Layers as they were run, scaling applied. Gradients stand in the order of backward, from the last
// layer to the first.
io::Json InlineLayers::operator()(std::size_t layer) const {
  std::int64_t bytes = 0;
  std::string_view dtype;
  io::Array shape;
  for (const layers::Gradient& gradient :
       std::ranges::equal_range(workload_.gradients, static_cast<std::uint32_t>(layer),
                                std::greater<>(), &layers::Gradient::layer)) {
    bytes += gradient.bytes.value;
    dtype = gradient.dtype;
    if (!gradient.shapes.empty()) { // one tensor a layer
      shape = {gradient.shapes.front().rows, gradient.shapes.front().columns};
    }
  }
  const layers::WorkLayer& work = workload_.layers[layer];
  const bool last = layer + 1 == workload_.layers.size();
  const Seconds forward = last ? workload_.without_loss.value_or(work.forward) : work.forward;
  io::Json tree = io::Object{{"name", work.name},
                             {"forward_s", forward.value},
                             {"backward_s", work.backward.value},
                             {"gradient_bytes", bytes}};
  io::set_given(tree, "dtype", dtype);
  io::set_if(!shape.empty(), tree, "shape", std::move(shape));
  return tree;
}

io::Json scenario_tree(const Scenario& given, LayerList layers) {
  const Scenario scenario = nominal_of(given);
  io::Json tree = io::Object{
      {"schema_version", 1},
      {"kind", "scenario"},
      {"seed", scenario.seed},
      {"method", scenario.method ? collectives::name(*scenario.method) : std::string_view("auto")},
      {"limits", io::Object{{"simulated_s", scenario.simulated_limit.value}}},
      {"workload", nullptr},
      {"cluster", cluster_tree(scenario)},
      {"training", training_tree(scenario)},
      {"communication", communication_tree(scenario)},
      {"variability", variability_tree(scenario.variability)}};
  *tree.find("workload") = workloads_tree(scenario, layers); // not copied: it may hold many layers
  io::set_given(tree, "name", scenario.name);
  io::set_given(tree, "allow_unusual", scenario.allow_unusual);
  io::Json job{io::Object{}};
  io::write_bound(keys::kJobRows, scenario.job, job);
  io::set_if(!job.as_object().empty(), tree, "job", std::move(job));
  add_conditions(scenario, tree);
  drop_meaningless(scenario, tree);
  return tree;
}

std::optional<std::string_view> short_form_key(std::string_view pointer) {
  const auto form = std::ranges::find(kShortForms, pointer, &ShortForm::pointer);
  return form == kShortForms.end() ? std::nullopt : std::optional(form->key);
}

bool may_hold_short_form(std::string_view pointer) {
  return pointer.starts_with("/communication/schedule") ||
         std::ranges::any_of(
             kShortForms, [&](const ShortForm& form) { return form.pointer.starts_with(pointer); });
}

// The new object takes the place of the word, and the word keeps its own file and line: an error in
// it must point at what the user wrote.
io::Json with_short_forms_expanded(io::Json scenario) {
  for (const ShortForm& form : kShortForms) {
    const io::Json* found = io::resolve(scenario, form.pointer);
    const bool has_form = form.of.empty() || scenario.find(form.of) != nullptr;
    if (found == nullptr || !found->is_string() || !has_form) {
      continue;
    }
    const io::Json word = *found;
    io::Json object{io::Object{{std::string(form.key), word}}};
    object.set_origin(word.file_pointer(), std::string(form.pointer), word.line());
    io::Json& placed = io::assign(scenario, form.pointer, std::move(object));
    // The word keeps its place for messages, "/cluster/network" as the user wrote it; it may come
    // from another file than the scenario.
    placed.find(form.key)->set_origin(word.file_pointer(), std::string(form.pointer), word.line());
  }
  expand_schedule(scenario);
  return scenario;
}

} // namespace stepsim::study
