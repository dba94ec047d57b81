// A number can come from three places: the key itself, a calibration, a topology. The key wins over
// the calibration, and both win over the topology, which is measured later (resolve_fabric).

#include "scenario/scenario_parts.hpp"

#include "base/shared_value.hpp"
#include "collectives/evaluate/measured_steps.hpp"
#include "collectives/method.hpp"
#include "document/json_text.hpp"
#include "links/profile/profile_curve.hpp"
#include "scenario/keys/cluster_keys.hpp"
#include "scenario/node_counts.hpp"
#include "scenario/scenario_library.hpp"

namespace stepsim::study {

namespace {

// An inline cost object or a cost file; `ranks` of a file must be those of the cluster.
std::optional<buckets::Cost> parse_cost(io::Fields& fields, const ParseContext& context,
                                        Scenario& scenario) {
  const io::Json* json = fields.any("cost");
  if (json == nullptr || json->is_null()) {
    return std::nullopt;
  }
  Network& network = scenario.cluster.network;
  if (json->is_string()) {
    network.cost_file = json->as_string();
    network.curve_source = "cost file " + json->as_string();
    ChosenCost chosen = all_reduce_cost(context.files.cost(*json), scenario.cluster.ranks(), *json,
                                        context.problems);
    if (!chosen.warning.empty()) {
      scenario.warnings.push_back(std::move(chosen.warning));
    }
    return std::move(chosen.cost);
  }
  network.cost_tree = io::with_numbers(*json);
  network.curve_source = "cost given in the scenario";
  return inline_cost(*json, context.problems);
}

// Bytes of an element of the gradients as they are sent; 4 without gradients.
double sent_element_bytes(const Scenario& scenario) {
  const auto& gradients = scenario.workload.gradients;
  if (is_compressed(scenario)) {
    return 2; // the only dense method that sends others
  }
  return gradients.empty() || gradients.front().values() == 0
             ? 4
             : static_cast<double>(gradients.front().bytes.value) /
                   static_cast<double>(gradients.front().values());
}

// The exchanges of sharded training that have a curve of their own: " reduce_scatter, allgather".
std::string measured_halves(const Scenario& scenario) {
  std::string words;
  for (const collectives::Op op : {collectives::Op::reduce_scatter, collectives::Op::allgather}) {
    if (scenario.training.sharding.any() && measured_half(scenario, op)) {
      words.append(words.empty() ? " " : ", ").append(collectives::name(op));
    }
  }
  return words;
}

// The numbers of ranks of all-reduces that were measured: "8, 16"; of a library or an algorithm.
std::string measured_ranks(const links::NetworkProfile& profile, std::string_view algorithm) {
  std::string list;
  std::set<std::int64_t> seen;
  for (const links::CollectiveCurve& curve : profile.collectives) {
    if (find_curve(profile, {"allreduce", algorithm, curve.ranks}) != nullptr &&
        seen.insert(curve.ranks).second) {
      list += (list.empty() ? "" : ", ") + std::to_string(curve.ranks);
    }
  }
  return list;
}

// The collectives that curves of so many ranks serve, such as "lp or ring"; "" = none.
std::string measured_collectives(const links::NetworkProfile& profile, std::int64_t ranks) {
  std::set<std::string> names;
  for (const links::CollectiveCurve& curve : profile.collectives) {
    if (curve.op == "allreduce" && curve.ranks == ranks) {
      names.insert(find_curve(profile, {"allreduce", "", ranks}) == &curve ? "calibrated"
                                                                           : curve.algorithm);
    }
  }
  return base::listed(std::vector(names.begin(), names.end()), std::identity(), ", ", " or ");
}

// An algorithm that was not measured takes the times of messages by what their ranks do at the same
// time (CAL 8.4, D9), where the calibration has them; so does a choice among algorithms.
void take_steps(const links::NetworkProfile& profile, Scenario& scenario) {
  Network& network = scenario.cluster.network;
  std::optional<collectives::MeasuredSteps> steps = collectives::measured_steps(profile);
  if (!steps || !exchanges(scenario)) {
    return;
  }
  network.steps = std::make_shared<const collectives::MeasuredSteps>(*std::move(steps));
  collectives::Collective exchange = exchange_of(scenario);
  exchange.reduction_s_per_byte = profile.reduction_Bps ? 1 / *profile.reduction_Bps : 0;
  collectives::Collective one = exchange; // of those that auto chooses from
  one.algorithm = exchange.algorithm == collectives::AlgorithmId::automatic
                      ? collectives::AlgorithmId::ring
                      : exchange.algorithm;
  const buckets::Planner& planner = buckets::planner(scenario.communication.schedule);
  if (const bool line = planner.needs_linear_cost(); line || !takes_measured_steps(one)) {
    network.steps.reset();
    const std::string_view loses = line ? planner.name : collectives::name(exchange.algorithm);
    scenario.warnings.push_back(std::string(loses).append(collectives::kLosesSteps));
    return;
  }
  const auto known = std::make_shared<std::map<double, double>>(); // planners ask again and again
  network.curve = buckets::Cost{buckets::CurveCost{[exchange, known](double bytes) {
    return base::remembered(*known, bytes, [&] {
      collectives::Collective asked = exchange;
      asked.bytes = bytes;
      return collectives::seconds(asked, collectives::Method::max_plus);
    });
  }}};
  network.curve_source = "calibration " + network.calibration + ", messages one and both ways";
}

// The GPU of the workload where its memory is the default: its name tells the size (a100-40), which
// machines of one type come with several of, or no node type has one.
const layers::Gpu* gpu_of_memory(const Scenario& scenario) {
  const auto& estimate = scenario.workload_source.profile.estimate;
  if (!estimate) {
    return nullptr;
  }
  const std::string_view name = estimate->gpu->name;
  const std::string_view size = name.substr(name.rfind('-') + 1); // all of it without one
  const bool told = size.find_first_not_of("0123456789") == std::string_view::npos;
  const auto& node = scenario.cluster.node;
  return told || !node || !node->gpu_memory_bytes ? estimate->gpu : nullptr;
}

} // namespace

// `network` may be absent for one node alone. Latency and bandwidth are required unless something
// else gives the times of messages.
void parse_cluster(io::Fields& fields, const ParseContext& context, Scenario& scenario) {
  Cluster& cluster = scenario.cluster;
  cluster.nodes = fields.integer("nodes");
  cluster.node =
      node_source(fields.any("preset"), scenario.communication.library_settings, context);
  read_counts(fields, context, cluster.node ? cluster.node->type.gpus : 1, cluster);
  cluster.gpu_memory_bytes = fields.optional_integer("gpu_memory_bytes");
  if (!cluster.gpu_memory_bytes) {
    if (const layers::Gpu* gpu = gpu_of_memory(scenario)) {
      cluster.gpu_memory_bytes = static_cast<std::int64_t>(gpu->memory_bytes);
    } else if (cluster.node && cluster.node->gpu_memory_bytes) {
      cluster.gpu_memory_bytes = static_cast<std::int64_t>(*cluster.node->gpu_memory_bytes);
    }
  }
  read_switches(fields, cluster);
  parse_intra(fields, context, cluster);
  const auto as_written = [&](std::string_view key) {
    const io::Json* json = fields.any(key);
    return json == nullptr ? io::Json() : io::with_numbers(*json);
  };
  cluster.topology = as_written("topology");
  cluster.rank_placement = as_written("rank_placement");

  Network& network = cluster.network;
  take_node_network(cluster);
  const io::Json* network_json = fields.any("network");
  if (cluster.node && (network_json == nullptr || network_json->is_null())) {
    return;
  }
  if (network_json == nullptr || network_json->is_null()) {
    cluster.has_network = false;
    const io::Json* nodes = fields.any("nodes");
    fields.refuse_if(nodes == nullptr || !nodes->is_number() || nodes->as_double() != 1, "network",
                     "required");
    return;
  }
  io::Fields part(*network_json, context.problems, fields.row("network"));
  network.model = part.word("model", kNetworkModels);
  network.count_headers = part.boolean("count_headers");
  if (const auto carrier = part.optional_word("transport", links::kCarriers)) {
    network.carrier = carrier;
  }
  (void)part.any("packet"); // resolve_fabric reads it
  network.efficiency = part.number("efficiency");
  part.refuse_if(part.integer("copy_engines") == 1, "copy_engines",
                 "half-duplex ranks are not supported");
  read_calibration(part, context, cluster);
  network.curve = parse_cost(part, context, scenario);
  if (const io::Json* json = part.any("broadcast_cost"); json != nullptr && !json->is_null()) {
    network.broadcast_cost_tree = io::with_numbers(*json);
    network.broadcast_curve = inline_cost(*json, context.problems);
  }
  // Values beside a profile win; without one, latency and bandwidth are required, but not with a
  // topology, a cost or measured curves (resolve_curve says so where none of those fits).
  const bool curves = network.profile && !network.profile->collectives.empty();
  const bool known = network.curve.has_value() || curves || network.bandwidth_Bps > 0 ||
                     !cluster.topology.is_null();
  const bool given = part.has(io::key_of<&Network::latency_s>()) ||
                     part.has(io::key_of<&Network::bandwidth_Bps>());
  // One node sends nothing to others.
  cluster.has_network =
      known || given || cluster.nodes > 1 || network.model != NetworkModel::alpha_beta;
  read_link(part, !known && cluster.has_network, cluster);
  part.refuse_if(network.block_latency_s > network.latency_s, "block_latency_s",
                 "per-block latency must not exceed latency_s ({}), got {}",
                 base::shortest(network.latency_s), base::shortest(network.block_latency_s));
  part.no_more();
}

// The curve that the calibration has for dense messages; null beside a latency, delay or bandwidth
// that is given, which wins over the curves of a calibration, too.
const links::CollectiveCurve* dense_curve(const io::Json& tree, const Scenario& scenario) {
  const Network& network = scenario.cluster.network;
  const bool calibrated = scenario.communication.calibrated;
  const bool given = is_given(tree, kNetworkPointer<&Network::latency_s>) ||
                     is_given(tree, kNetworkPointer<&Network::bandwidth_Bps>) ||
                     is_given(tree, kNetworkPointer<&Network::delay_s>);
  if (!network.profile || scenario.cluster.ranks() == 1 || (given && !calibrated)) {
    return nullptr;
  }
  const std::string_view wanted =
      calibrated ? "" : collectives::name(scenario.communication.collective);
  return find_curve(*network.profile,
                    {"allreduce", wanted, scenario.cluster.ranks(), sent_element_bytes(scenario),
                     start_up_of(scenario.communication)});
}

// The order decides which times win: a simulated network, then the links (where gradients are
// compressed, since curves are measured for dense ones; fp16 sends them as dense ones of half the
// bytes), then exchange_s, then a given cost, then a curve of the calibration with the same number
// of ranks.
void resolve_curve(const io::Json& tree, const ParseContext& context, Scenario& scenario) {
  Network& network = scenario.cluster.network;
  if (network.model != NetworkModel::alpha_beta || scenario.communication.question) {
    return; // the topology counts, or the model of a library
  }
  const bool dense = collectives::row(scenario.communication.compression.method).kind ==
                     collectives::CompressionKind::dense;
  if (!dense || (is_compressed(scenario) && scenario.training.exchange)) {
    network.curve.reset(); // measured for dense gradients
    scenario.training.exchange.reset();
    const io::Json* place = io::resolve(tree, "/cluster/network");
    if (network.bandwidth_Bps <= 0 && scenario.cluster.nodes > 1 && place != nullptr) {
      context.problems.add(*place, "a compressed exchange needs latency_s and bandwidth_Bps: "
                                   "measured costs are of dense gradients");
    }
    if (const auto* curve = dense_curve(tree, scenario)) {
      scenario.warnings.push_back(fmt::format(
          "the curve of {} in {} was measured for dense gradients: messages of {} take latency and "
          "bandwidth instead, so that gains over dense training are uncertain",
          curve->algorithm, network.calibration,
          collectives::row(scenario.communication.compression.method).name));
    }
    return;
  }
  if (scenario.training.exchange) {
    network.curve =
        buckets::Cost{.base = buckets::LinearCost{scenario.training.exchange->value, 0}};
    network.curve_source = "exchange_s given in the scenario";
    return;
  }
  const io::Json* place = io::resolve(tree, "/cluster/network/calibration");
  const bool calibrated = scenario.communication.calibrated;
  if (network.curve || place == nullptr || !place->is_string()) {
    if (calibrated) {
      context.problems.add(tree, "/communication/collective: calibrated needs a calibration with a "
                                 "measured allreduce curve");
    }
    return;
  }
  if (scenario.cluster.ranks() == 1) {
    return; // sends nothing
  }
  if (!network.profile) {
    return; // could not be read
  }
  const links::NetworkProfile& profile = *network.profile;
  const bool latency = is_given(tree, kNetworkPointer<&Network::latency_s>);
  const bool rate = is_given(tree, kNetworkPointer<&Network::bandwidth_Bps>);
  if (!calibrated && (latency || rate || is_given(tree, kNetworkPointer<&Network::delay_s>))) {
    if (!(latency && rate) && scenario.cluster.nodes > 1 &&
        !(network_link(profile).per_byte_s > 0)) {
      context.problems.add(*place, "gives measured curves alone: beside latency_s or bandwidth_Bps "
                                   "the other one is needed, too");
    }
    return;
  }
  if (const links::CollectiveCurve* best = dense_curve(tree, scenario)) {
    network.curve = cost_of(*best);
    network.valid_bytes = {best->segments.front().from_bytes, best->segments.back().to_bytes};
    network.curve_source = "calibration " + network.calibration + ", " + best->algorithm +
                           (best->start_up == links::StartUp::queue ? ", queued" : "") +
                           measured_halves(scenario);
    return;
  }
  const std::string others = measured_collectives(profile, scenario.cluster.ranks());
  if (calibrated) {
    const std::string available = measured_ranks(profile, "");
    context.problems.add(*place, "no allreduce curve of " +
                                     base::counted(scenario.cluster.ranks(), "rank") +
                                     (!available.empty() ? "; measured: " + available
                                      : others.empty()   ? ""
                                                         : "; use collective " + others));
  } else if (network.bandwidth_Bps <= 0 && !profile.collectives.empty()) {
    context.problems.add(*place, "gives measured curves but no latency and bandwidth; use "
                                 "collective " +
                                     (others.empty() ? "calibrated" : others));
  } else {
    take_steps(profile, scenario);
  }
}

void require_networks(const io::Json& tree, const ParseContext& context, Scenario& scenario) {
  Cluster& cluster = scenario.cluster;
  const io::Json* place = io::resolve(tree, "/cluster");
  if (!cluster.has_network && scenario.communication.dedicated_servers() > 0) {
    context.problems.add(*place, "network", "required: dedicated servers are on other machines");
  }
  // Whatever gives the time of a whole exchange makes the links inside a node superfluous.
  if (cluster.gpus_of_domain() == 1 || cluster.intra || scenario.training.exchange ||
      cluster.network.curve || !context.problems.empty()) {
    return;
  }
  if (cluster.network.model != NetworkModel::alpha_beta || !cluster.topology.is_null()) {
    return; // resolve_fabric knows which ranks share a host
  }
  add_missing_intra(*place, context, cluster);
}

// Density matters to the ranges of a profile only where something is selected.
void add_profile_warnings(Scenario& scenario) {
  renew_name(scenario.cluster.network.calibration, scenario.warnings);
  renew_name(scenario.cluster.intra_calibration, scenario.warnings);
  if (const auto& node = scenario.cluster.node; node && !node->uncalibrated.empty()) {
    scenario.warnings.push_back("node type " + node->type.name + ": " + node->uncalibrated);
  }
  if (!scenario.cluster.network.profile) {
    return;
  }
  const links::NetworkProfile& profile = *scenario.cluster.network.profile;
  const collectives::Compression& compression = scenario.communication.compression;
  const bool sparse =
      collectives::row(compression.method).kind == collectives::CompressionKind::sparse;
  const std::int64_t ranks = scenario.cluster.ranks();
  if (auto failed = links::grade_warning(profile)) {
    scenario.warnings.insert(scenario.warnings.begin(), std::move(*failed)); // the first to be read
  }
  if (profile.label == links::ProfileLabel::calibrated && !profile.note.empty()) {
    scenario.warnings.push_back(profile.name + ": " + profile.note);
  }
  if (const auto gamma = links::dense_inflation_warning(profile, ranks); gamma && !sparse) {
    scenario.warnings.push_back(*gamma);
  }
  for (std::string& text : links::outside_warnings(profile, ranks, scenario.cluster.gpus_per_node,
                                                   sparse ? compression.density : std::nullopt)) {
    scenario.warnings.push_back(std::move(text));
  }
}

} // namespace stepsim::study
