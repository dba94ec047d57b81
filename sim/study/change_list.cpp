#include "study/step_changes.hpp"

#include "document/json_text.hpp"
#include "scenario/keys/communication_keys.hpp"
#include "scenario/scenario_conditions.hpp"
#include "study/tune_values.hpp"

#include <fmt/core.h>

namespace stepsim::study {

namespace {

using Changes = std::vector<Change>;

std::string assigned(std::string_view pointer, double value) {
  return std::string(pointer) + "=" + base::shortest(value);
}

// Layer by layer, where the times are written in the scenario.
std::vector<std::string> faster_layers(const Scenario& scenario) {
  std::vector<std::string> set;
  for (std::size_t l = 0; l < scenario.workload.layers.size(); ++l) {
    const layers::WorkLayer& layer = scenario.workload.layers[l];
    const std::string place = "/workload/layers/" + std::to_string(l);
    set.push_back(assigned(place + "/forward_s", layer.forward.value / 2));
    set.push_back(assigned(place + "/backward_s", layer.backward.value / 2));
  }
  return set;
}

// A number of the scenario as it was written, with its short forms and units resolved.
std::optional<double> number_at(const io::Json& tree, std::string_view pointer) {
  const io::Json* value = io::resolve(tree, pointer);
  return value != nullptr ? io::number_of(*value) : std::nullopt;
}

void add_faster_computing(const io::Json& tree, const Scenario& scenario, Changes& changes) {
  const WorkloadSource& source = scenario.workload_source;
  if (!scenario.other_jobs.empty()) {
    return;
  }
  if (source.layers) {
    changes.push_back({"computing twice as fast", faster_layers(scenario)});
    return;
  }
  if (!source.trace.empty()) {
    double backward = 0;
    for (const layers::WorkLayer& layer : scenario.workload.layers) {
      backward += layer.backward.value;
    }
    changes.push_back({"backward passes twice as fast",
                       {assigned("/workload/scale_backward_to_s", backward / 2)}});
    return;
  }
  Change change{"computing twice as fast", {}};
  for (const char* key : {"forward_s", "backward_s", "compute_s"}) {
    const std::string pointer = std::string("/workload/measured/") + key;
    if (const auto value = number_at(tree, pointer)) {
      change.set.push_back(assigned(pointer, *value / 2));
    }
  }
  if (const auto speed = number_at(tree, "/workload/device/flops_Ps")) {
    change.set.push_back(assigned("/workload/device/flops_Ps", *speed * 2));
  }
  if (!change.set.empty()) {
    changes.push_back(std::move(change));
  }
}

// Halves the latency of messages and that of further blocks, if it is another one or in the file.
std::vector<std::string> half_latency(const io::Json& tree, const std::string& network,
                                      double latency_s, double block_latency_s, bool in_blocks) {
  std::vector<std::string> out{assigned(network + "/latency_s", latency_s / 2)};
  if ((in_blocks && block_latency_s < latency_s) || number_at(tree, network + "/block_latency_s")) {
    out.push_back(assigned(network + "/block_latency_s", block_latency_s / 2));
  }
  return out;
}

// Of a rate that messages reach nothing is lost, but of twice that rate what typical conditions
// take of every rate that is typed: both together say nothing of a faster network.
void add_faster_network(const io::Json& tree, const Scenario& scenario, Changes& changes) {
  const LossQuestion question = loss_question(scenario);
  const bool loses = is_typical(scenario) && question.links == LinkModel::alpha_beta;
  const Network& network = scenario.cluster.network;
  const Communication& communication = scenario.communication;
  const collectives::Options& options = communication.options;
  const io::Json* topology = io::resolve(tree, "/cluster/topology");
  if (topology != nullptr && topology->is_object()) {
    const std::string rate_key(io::key_of<&links::TopologyLink::bandwidth_Bps>());
    for (const std::string& key : {rate_key, "uplink_" + rate_key}) {
      const std::string pointer = "/cluster/topology/" + key;
      if (const auto rate = number_at(tree, pointer)) {
        changes.push_back(
            {"twice the " + key + " of the topology", {assigned(pointer, *rate * 2)}});
      }
    }
  }
  if (const auto& outer = scenario.training.local.outer_network; outer && outer->has_link()) {
    const auto add = [&](std::string name, std::string_view key, double value) {
      changes.push_back(
          {std::move(name), {assigned("/training/outer_network/" + std::string(key), value)}});
    };
    add("half the latency of outer exchanges", io::key_of<&OuterNetwork::latency_s>(),
        outer->latency_s.value_or(network.latency_s) / 2);
    add("twice the bandwidth of outer exchanges", io::key_of<&OuterNetwork::bandwidth_Bps>(),
        outer->bandwidth_Bps.value_or(network.bandwidth_Bps) * 2);
  } else if (scenario.cluster.has_network && topology == nullptr &&
             (!network.curve || communication.question)) {
    if (!communication.question) { // the library's model has latencies of its own
      changes.push_back(
          {"half the latency of the network",
           half_latency(tree, "/cluster/network", network.latency_s, network.block_latency_s,
                        !is_simulated(scenario) &&
                            may_send_blocks(communication, options.inter_algorithm))});
    }
    if (!(loses && question.network_measured)) {
      const double of_card =
          loses ? question.network_Bps /
                      (network.efficiency * static_cast<double>(scenario.cluster.nics_of_domain()))
                : network.bandwidth_Bps;
      changes.push_back({"twice the bandwidth of the network",
                         {assigned(kNetworkPointer<&Network::bandwidth_Bps>, of_card * 2)}});
    }
  }
  if (network.reduction_Bps > 0) {
    changes.push_back(
        {"additions twice as fast",
         {assigned(kNetworkPointer<&Network::reduction_Bps>, network.reduction_Bps * 2)}});
  }
  if (scenario.cluster.intra && scenario.cluster.gpus_of_domain() > 1) {
    const collectives::LinkCost& intra = *scenario.cluster.intra;
    changes.push_back(
        {"half the latency inside a node",
         half_latency(tree, "/cluster/intra_network", intra.latency_s, intra.block_latency_s,
                      may_send_blocks(communication, options.intra_algorithm))});
    if (!(loses && question.bus_measured)) {
      changes.push_back({"twice the bandwidth inside a node",
                         {assigned(kIntraPointer<&Network::bandwidth_Bps>,
                                   loses ? 2 * question.bus_Bps : 2 / intra.per_byte_s)}});
    }
  }
}

// The least that could be bought.
void add_more_cards(const Scenario& scenario, Changes& changes) {
  const Cluster& cluster = scenario.cluster;
  if (cluster.nodes > 1 && cluster.nics_per_node < cluster.gpus_per_node) {
    changes.push_back({"one network card per node more",
                       {"/cluster/nics_per_node=" + std::to_string(cluster.nics_per_node + 1)}});
  }
}

// What the library could do instead.
void add_other_exchanges(const Scenario& scenario, Changes& changes) {
  if (!exchanges(scenario)) {
    return;
  }
  const std::string_view now = scenario.communication.library
                                   ? keys::kLibrary
                                   : collectives::name(scenario.communication.collective);
  for (const std::string_view word : collectives_of(scenario)) {
    if (word != now) {
      changes.push_back(
          {"collective " + std::string(word), {"/communication/collective=" + std::string(word)}});
    }
  }
}

void add_more_servers(const Scenario& scenario, Changes& changes) {
  if (const std::uint32_t servers = scenario.communication.dedicated_servers(); servers > 0) {
    changes.push_back(
        {"twice as many servers", {"/training/servers=" + std::to_string(2 * servers)}});
    changes.push_back(
        {"a server on every worker", {"/training/placement=sharded", "/training/servers=null"}});
  }
}

void add_other_schedules(const Scenario& scenario, Changes& changes) {
  for (const buckets::Planner& planner : buckets::planners()) {
    if (planner.compared && planner.schedule != scenario.communication.schedule) {
      changes.push_back({"schedule " + std::string(planner.name),
                         {"/communication/schedule=" + std::string(planner.name)}});
    }
  }
}

// What decides how often and how late rounds of steps exchange, one key at a time.
void add_other_rounds(const Scenario& scenario, Changes& changes) {
  if (!trains_in_rounds(scenario.training)) {
    return;
  }
  const LocalTraining& local = scenario.training.local;
  const auto set = [](std::string_view key, const std::string& value) {
    return "/training/" + std::string(key) + "=" + value;
  };
  changes.push_back({"rounds of twice as many steps",
                     {set("local_steps", std::to_string(2 * local.local_steps))}});
  changes.push_back({"one overlapped step more",
                     {set("overlap_steps", std::to_string(local.overlap_steps + 1))}});
  changes.push_back(
      {"twice as many fragments", {set("fragments", std::to_string(2 * local.fragments))}});
  if (local.outer_gate == programs::OuterGate::step) {
    changes.push_back({"layers wait for their own outer exchange", {set("outer_gate", "layer")}});
  }
  if (local.outer_compression.method == CodecMethod::none) {
    changes.push_back({"outer gradients in 1 byte (int8)", {set("outer_compression", "int8")}});
  }
}

// What decides how sharded training overlaps, one key at a time.
void add_other_sharding(const Scenario& scenario, Changes& changes) {
  const Sharding& sharding = scenario.training.sharding;
  if (!sharding.any()) {
    return;
  }
  const auto add = [&](std::string name, std::string_view key, std::string_view value) {
    changes.push_back(
        {std::move(name), {"/training/sharding/" + std::string(key) + "=" + std::string(value)}});
  };
  const auto add_others = [&](const auto& words, auto now, const char* begin,
                              std::string_view key) {
    for (const std::string_view word : words.all()) {
      if (word != words[now]) {
        add(begin + std::string(word), key, word);
      }
    }
  };
  add_others(kShardingStrategies, sharding.strategy, "sharding ", "strategy");
  if (has_owners(sharding)) {
    return add_others(kGatherBys, sharding.gather_by, "parameters gathered by ", "gather_by");
  }
  if (!has_units(sharding)) {
    return add_others(kParameterGathers, sharding.gather, "parameters gathered ", "gather");
  }
  add(sharding.communicators == 1 ? "two communicators, where the links have room for both"
                                  : "one communicator",
      "communicators", sharding.communicators == 1 ? "2" : "1");
  add_others(kBackwardPrefetches, sharding.backward_prefetch, "backward prefetch ",
             "backward_prefetch");
  for (const std::string policy : {"layer", "block", "all"}) {
    add("wrapping " + policy, "wrapping", R"({"policy": ")" + policy + R"("})");
  }
}

// What an estimate computes again, which costs time and saves memory.
void add_other_recomputation(const Scenario& scenario, Changes& changes) {
  const layers::ProfileOptions& profile = scenario.workload_source.profile;
  for (const std::string_view word : recomputations_of(profile)) {
    if (profile.estimate && word != layers::kRecomputes[profile.estimate->recompute]) {
      changes.push_back(
          {"recompute " + std::string(word), {"/workload/recompute=" + std::string(word)}});
    }
  }
}

// Each factor at the end of its range where more is lost.
void add_bad_sites(const Scenario& scenario, Changes& causes) {
  for (const Factor factor : scenario.conditions.used) {
    const FactorValue& value = scenario.conditions.factors[static_cast<std::size_t>(factor)];
    const bool is_low = value_without_loss(factor) > moved(factor, value, -kDeviationsOf80);
    const double end = moved(factor, value, is_low ? -kDeviationsOf80 : kDeviationsOf80);
    if (factor != Factor::q && end != value.value) {
      causes.push_back({fmt::format("{} ({}) at the {} end of its range", kFactors[factor],
                                    meaning(factor), is_low ? "low" : "high"),
                        {assigned("/conditions/factors/" + std::string(kFactors[factor]), end)}});
    }
  }
}

} // namespace

std::vector<std::string_view> recomputations_of(const layers::ProfileOptions& profile) {
  std::vector<std::string_view> words(layers::kRecomputes.all().begin(),
                                      layers::kRecomputes.all().end());
  if (profile.attention != layers::Attention::plain) {
    std::erase(words, layers::kRecomputes[layers::Recompute::selective]);
  }
  return words;
}

std::vector<Change> all_changes(const io::Json& tree, const Scenario& scenario) {
  Changes changes;
  auto set_kind = [&, next = std::size_t{0}](ChangeKind kind) mutable { // of those since then
    for (; next < changes.size(); ++next) {
      changes[next].kind = kind;
    }
  };
  const Scenario nominal = nominal_of(scenario); // what the keys say
  add_faster_network(tree, nominal, changes);
  set_kind(ChangeKind::network);
  add_faster_computing(tree, nominal, changes);
  if (nominal.training.input.value > 0) {
    changes.push_back({"batches read twice as fast",
                       {assigned("/training/input_s", nominal.training.input.value / 2)}});
  }
  if (nominal.training.update.value > 0) {
    changes.push_back({"updates twice as fast",
                       {assigned("/training/update_s", nominal.training.update.value / 2)}});
  }
  set_kind(ChangeKind::computing);
  for (const Factor factor : scenario.conditions.used) {
    if (factor != Factor::q) {
      changes.push_back(
          {"without " + std::string(kFactors[factor]) + " (" + std::string(meaning(factor)) + ")",
           {assigned("/conditions/factors/" + std::string(kFactors[factor]),
                     value_without_loss(factor))}});
    }
  }
  if (scenario.variability.varies()) {
    changes.push_back({"no variability", {"/variability={}"}});
  }
  if (nominal.training.overlap.any()) {
    changes.push_back(
        {"no interference", {"/training/overlap=null", "/training/compute_slowdown=1"}});
  }
  set_kind(ChangeKind::conditions);
  add_other_sharding(scenario, changes);
  add_other_recomputation(scenario, changes);
  set_kind(ChangeKind::sharding);
  add_other_rounds(scenario, changes);
  set_kind(ChangeKind::rounds);
  add_more_cards(scenario, changes);
  set_kind(ChangeKind::network);
  add_other_exchanges(scenario, changes);
  add_more_servers(scenario, changes);
  set_kind(ChangeKind::collective);
  add_other_schedules(scenario, changes);
  set_kind(ChangeKind::schedule);
  // A library sends gradients as they are: the change would be one of the collective, too. A curve
  // that was measured for dense messages holds for fp16, but not for truncate16.
  if (scenario.communication.compression.method != collectives::CompressionMethod::none) {
    changes.push_back({"gradients without compression", {"/communication/compression=null"}});
  } else if (!scenario.communication.library) {
    const std::string method = nominal.cluster.network.curve ? "fp16" : "truncate16";
    changes.push_back(
        {"gradients in 16 bits (" + method + ")", {"/communication/compression/method=" + method}});
  }
  set_kind(ChangeKind::compression);
  return changes;
}

std::vector<Change> all_causes(const Scenario& scenario) {
  std::vector<Change> causes;
  const Network& network = scenario.cluster.network;
  if (is_typical(scenario)) {
    add_bad_sites(scenario, causes);
  } else {
    if (!network.curve && scenario.cluster.has_network && !scenario.cluster.fabric) {
      causes.push_back({"messages reach 80 % of the bandwidth",
                        {assigned("/cluster/network/efficiency", 0.8 * network.efficiency)}});
    }
    causes.push_back({"computing 14 % slower while messages are under way (16 of 132 "
                      "multiprocessors)",
                      {"/training/compute_slowdown=1.138"}});
  }
  if (!scenario.variability.random()) {
    causes.push_back({"compute times that vary by 2 %", {"/variability/compute_cv=0.02"}});
  }
  if (scenario.variability.stragglers.empty() && scenario.cluster.ranks() > 1) {
    causes.push_back({"one worker that computes 10 % slower",
                      {R"(/variability/stragglers=[{"worker": 0, "factor": 1.1}])"}});
  }
  return causes;
}

} // namespace stepsim::study
