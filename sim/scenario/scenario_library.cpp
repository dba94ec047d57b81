// The model gives a cost of a message without a network, so that it takes the place of a measured
// curve: planners, runs and sweeps know no difference.

#include "scenario/scenario_library.hpp"

#include "collectives/algorithms.hpp"
#include "document/json_text.hpp"
#include "scenario/keys/library_model_keys.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

namespace {

constexpr std::string_view kPlace = "/communication/collective";

// What stands in the way of the model, in words; empty where nothing does.
std::string obstacle(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  if (!cluster.topology.is_null()) {
    return "collective library has no meaning with a topology: its cost is contention-free";
  }
  if (cluster.network.curve && !scenario.training.exchange) {
    return "collective library and /cluster/network/cost exclude each other: both are the time of "
           "an exchange";
  }
  if (!cluster.node) {
    return "collective library needs a node type: /cluster/preset, or "
           "/communication/library/calibration with a file of stepsim-calibrate fit-library";
  }
  return "";
}

// Keeps the calibration alive, which the question refers to.
buckets::Cost curve_of(const nccl::LibraryQuestion& question, const LibrarySettings& settings) {
  const auto cost = std::make_shared<const nccl::LibraryCost>(question);
  return {.base = buckets::CurveCost{[cost, calibration = settings.calibration](double bytes) {
            return cost->seconds(bytes);
          }}};
}

// "NCCL on 10x8 dgx_h100, calibrated by cluster"
std::string source_text(const nccl::LibraryQuestion& question) {
  const std::string text =
      "the model of NCCL on " + nccl::text(question.shape) + " " + question.node.name;
  return question.calibration == nullptr
             ? text
             : text + ", calibration " + question.calibration->fitted.name;
}

// Whether the calibration measured a ring all-reduce of as many ranks as the scenario has: such a
// time is better than that of any formula.
bool has_ring_curve(const Scenario& scenario) {
  const auto& profile = scenario.cluster.network.profile;
  return profile && std::ranges::any_of(profile->collectives, [&](const auto& curve) {
           return curve.op == collectives::name(collectives::Op::allreduce) &&
                  curve.algorithm == collectives::name(collectives::AlgorithmId::ring) &&
                  curve.ranks == scenario.cluster.ranks();
         });
}

// Words that are none are problems with the nearest known one.
template <class Enum, std::size_t N>
std::vector<Enum> words_of(io::Fields& fields, std::string_view key, std::string_view noun,
                           const base::Words<Enum, N>& words) {
  std::vector<Enum> out;
  for (const io::Json& json : fields.list(key)) {
    if (const auto found = json.is_string() ? words.find(json.as_string()) : std::nullopt) {
      out.push_back(*found);
    } else {
      fields.problems().add(json, json.is_string()
                                      ? base::unknown_word(noun, json.as_string(), words.all())
                                      : "must be a word, got " + io::shown(json));
    }
  }
  return out;
}

void read_version(io::Fields& fields, LibrarySettings& settings) {
  if (const auto version = fields.optional_text("version")) {
    try {
      settings.options.version = nccl::parse_version(*version);
    } catch (const UsageError& error) {
      fields.refuse("version", error.what());
    }
  }
}

void read_calibration(io::Fields& fields, const ParseContext& context, LibrarySettings& settings) {
  const io::Json* json = fields.given("calibration");
  if (json != nullptr && (json->is_string() || json->is_object())) {
    settings.calibration_written = *json;
    settings.calibration = context.files.library_calibration(*json);
  } else if (json != nullptr) {
    context.problems.add(*json, "must be a file or an object, got " + io::shown(*json));
  }
}

} // namespace

void parse_library(const io::Json& tree, const ParseContext& context, Scenario& scenario) {
  const io::Json* json = io::resolve(tree, "/communication/library");
  if (json != nullptr && !json->is_null()) {
    scenario.communication.library_settings = read_library(*json, context);
  }
}

nccl::LibraryQuestion question_of(const Cluster& cluster, const LibrarySettings& settings) {
  nccl::Shape shape{static_cast<std::uint32_t>(cluster.nodes),
                    static_cast<std::uint32_t>(cluster.gpus_per_node)};
  if (!cluster.equal_nodes()) {
    shape.smallest = static_cast<std::uint32_t>(*std::ranges::min_element(cluster.ranks_per_node));
    shape.ranks = static_cast<std::uint32_t>(cluster.ranks());
  }
  nccl::LibraryQuestion question{.operation = nccl::Operation::allreduce,
                                 .shape = shape,
                                 .node = cluster.node->type,
                                 .calibration = settings.calibration.get(),
                                 .options = settings.options};
  const auto take = [](double rate_Bps, double& rate, nccl::RateOrigin& origin) {
    rate = rate_Bps;
    origin.deviation = 0; // that of the scenario is known
  };
  nccl::NodeType& node = question.node;
  for (const Override& each : cluster.overrides) {
    if (each.pointer.ends_with("/nics_per_node")) {
      node.nics = static_cast<std::uint32_t>(cluster.nics_per_node);
    } else if (each.pointer.ends_with("/nvlink_domain_nodes")) {
      node.domain_nodes = static_cast<std::uint32_t>(cluster.nvlink_domain_nodes);
    } else if (each.pointer.ends_with(io::pointer_to<&Network::bandwidth_Bps, "/network/">())) {
      take(each.value.as_double(), node.nic_Bps, node.nic_origin);
    } else if (each.pointer.ends_with(
                   io::pointer_to<&Network::bandwidth_Bps, "/intra_network/">())) {
      take(each.value.as_double(), node.ring_Bps, node.ring_origin);
    }
  }
  if (!cluster.network.calibration.empty() && cluster.network.bandwidth_Bps > 0) {
    take(cluster.network.bandwidth_Bps, node.nic_Bps, node.nic_origin);
  }
  if (!cluster.intra_calibration.empty() && cluster.intra) {
    take(1 / cluster.intra->per_byte_s, node.ring_Bps, node.ring_origin);
  }
  node.nic_Bps *= cluster.network.efficiency;
  return question;
}

std::string cluster_pointer(const io::Json& object, std::string_view key) {
  const std::string inside = object.pointer();
  const std::size_t cluster = inside.rfind("/cluster");
  return inside.substr(cluster == std::string::npos ? 0 : cluster) + "/" + std::string(key);
}

void note_override(io::Fields& fields, std::string_view key, double value, double of_node,
                   Cluster& cluster) {
  if (cluster.node && fields.has(key) && value != of_node) {
    cluster.overrides.push_back({cluster_pointer(fields.json(), key), value, of_node});
  }
}

void note_network(io::Fields& network, Cluster& cluster) {
  const Network& read = cluster.network;
  if (cluster.node && read.calibration.empty() && !read.curve) {
    const nccl::NodeLinks& links = cluster.node->links;
    note_override(network, "latency_s", read.latency_s, links.network_latency_s, cluster);
    note_override(network, io::key_of<&Network::bandwidth_Bps>(), read.bandwidth_Bps,
                  links.network_Bps, cluster);
  }
}

void note_profile(const io::Fields& fields, const std::string& name, Cluster& cluster) {
  if (cluster.node) {
    cluster.overrides.push_back({cluster_pointer(fields.json(), "calibration"), name, {}});
  }
}

// Where something else gives the times of exchanges, neither the library nor a choice among
// algorithms has a say; of simulated messages the library knows nothing. The library's model knows
// no compressed messages.
std::string_view default_collective(const Scenario& scenario, bool compressed,
                                    bool reduce_broadcast) {
  const Cluster& cluster = scenario.cluster;
  const Network& network = cluster.network;
  const bool simulated = network.model != NetworkModel::alpha_beta || !cluster.topology.is_null();
  const bool by_links =
      !reduce_broadcast &&
      (simulated || (!network.curve && !scenario.training.exchange && !has_ring_curve(scenario)));
  if (by_links && !simulated && cluster.node && !compressed) {
    return keys::kLibrary;
  }
  return collectives::name(by_links && cluster.gpus_of_domain() > 1
                               ? collectives::AlgorithmId::automatic
                               : collectives::AlgorithmId::ring);
}

// One worker sends nothing, and a given exchange_s counts for every collective. Beside a
// compression the model is refused in a file, and left out of a point that was made from one.
void resolve_library(const io::Json& tree, const ParseContext& context, Scenario& scenario) {
  Communication& communication = scenario.communication;
  if (!communication.library || is_simulated(scenario)) {
    return; // which resolve_fabric has refused
  }
  const io::Json* given = io::resolve(tree, kPlace);
  const io::Json& place = given != nullptr ? *given : *tree.find("cluster");
  if (is_compressed(scenario)) {
    if (context.leftovers == Leftovers::refuse) {
      context.problems.add(place, "collective library has no meaning for compressed gradients: "
                                  "their messages take the links of the cluster");
    }
    const auto take_links = [&](Communication& each) {
      each.library = false;
      each.collective =
          *collectives::parse_algorithm(default_collective(scenario, true, each.reduce_broadcast));
    };
    take_links(communication);
    if (scenario.dense_baseline) {
      take_links(*scenario.dense_baseline);
    }
    return;
  }
  if (const std::string why = obstacle(scenario); !why.empty()) {
    context.problems.add(place, why);
    return;
  }
  if (scenario.training.exchange || scenario.cluster.ranks() == 1) {
    return;
  }
  nccl::LibraryQuestion question = question_of(scenario.cluster, communication.library_settings);
  if (adds_bytes(scenario)) { // int8 stands for all types that are not added
    question.options.element_type = nccl::ElementType::int8;
  }
  try {
    scenario.cluster.network.curve = curve_of(question, communication.library_settings);
    scenario.cluster.network.curve_source = source_text(question);
    communication.question = question;
    // Latencies of links have no effect on the model, as a warning says.
    std::erase_if(scenario.cluster.overrides,
                  [](const Override& each) { return each.pointer.ends_with("latency_s"); });
  } catch (const UsageError& error) {
    context.problems.add(place, error.what());
  }
}

void renew_library_cost(Scenario& scenario) {
  const Communication& communication = scenario.communication;
  scenario.cluster.network.curve =
      curve_of(*communication.question, communication.library_settings);
}

Scenario with_question(const Scenario& scenario, const nccl::LibraryQuestion& question) {
  Scenario other = scenario;
  Network& network = other.cluster.network;
  network.planned_curve = network.curve;
  other.communication.question = question;
  renew_library_cost(other);
  return other;
}

std::string library_pair(const nccl::LibraryQuestion& question, double bytes) {
  const nccl::Pair pair =
      nccl::choose_pair(nccl::library_model(question),
                        nccl::layout_of(question.node, question.shape), question.operation, bytes)
          .chosen;
  return fmt::format("{}/{}", nccl::kAlgorithms[pair.algorithm], nccl::kProtocols[pair.protocol]);
}

std::vector<std::string> library_warnings(const nccl::LibraryQuestion& question,
                                          const std::vector<double>& bytes) {
  std::vector<std::string> all;
  nccl::LibraryQuestion asked = question;
  for (const double size : bytes) {
    asked.bytes = size;
    for (std::string& text : nccl::warnings_of(asked)) {
      if (std::ranges::find(all, text) == all.end()) {
        all.push_back(std::move(text));
      }
    }
  }
  return all;
}

buckets::LinearCost tangent(const buckets::Cost& cost, double bytes) {
  constexpr double kStep = 1e-3; // of the bytes, to both sides
  const double here = cost.seconds(bytes, 1);
  const double slope =
      (cost.seconds(bytes * (1 + kStep), 1) - cost.seconds(bytes * (1 - kStep), 1)) /
      (2 * kStep * bytes);
  const double per_byte = std::clamp(slope, 0.0, here / bytes);
  return {.startup_s = here - per_byte * bytes, .per_byte_s = per_byte};
}

double mean_message(const Scenario& scenario) {
  double bytes = 0, count = 0;
  for (const layers::Gradient& gradient : scenario.workload.gradients) {
    bytes += static_cast<double>(gradient.bytes.value);
    count += gradient.bytes.value > 0 ? 1 : 0;
  }
  return count > 0 ? bytes / count : 1;
}

io::Json library_tree(const Communication& communication) {
  const LibrarySettings& settings = communication.library_settings;
  io::Json tree{io::Object{}};
  io::set_given(tree, "calibration", settings.calibration_written);
  if (!communication.library) {
    return tree.as_object().empty() ? io::Json() : tree;
  }
  const nccl::LibraryOptions& options = settings.options;
  nccl::LibraryQuestion asked;
  asked.calibration = settings.calibration.get();
  asked.options = options;
  const nccl::LibraryModel model = nccl::library_model(asked);
  const nccl::Version version = model.restrictions.version;
  tree.set("name", io::keys::kLibraryNames.front());
  tree.set("version", std::to_string(version.major) + "." + std::to_string(version.minor));
  tree.set("choice", nccl::kChoices[model.choice]);
  tree.set("residual", nccl::kResiduals[options.residual.value_or(
                           settings.calibration ? nccl::Residual::kriging : nccl::Residual::none)]);
  const auto add_words = [&](const char* key, const auto& values, const auto& words) {
    io::set_given(tree, key, io::write_each(values, [&](auto value) { return words[value]; }));
  };
  add_words("algorithms", options.algorithms, nccl::kAlgorithms);
  add_words("protocols", options.protocols, nccl::kProtocols);
  tree.set("ll128", options.ll128);
  tree.set("collnet", options.collnet);
  return tree;
}

LibrarySettings read_library(const io::Json& json, const ParseContext& context) {
  LibrarySettings settings;
  if (json.is_string()) {
    constexpr std::span<const std::string_view> kNames = io::keys::kLibraryNames;
    if (json.as_string() != kNames.front()) {
      context.problems.add(json, base::unknown_word("library", json.as_string(), kNames));
    }
    return settings;
  }
  io::Fields fields(json, context.problems, keys::kLibraryKey);
  (void)fields.word("name");
  read_version(fields, settings);
  settings.options.choice = fields.optional_word("choice", nccl::kChoices);
  settings.options.residual = fields.optional_word("residual", nccl::kResiduals);
  read_calibration(fields, context, settings);
  settings.options.algorithms =
      words_of(fields, "algorithms", "algorithm of the library", keys::kLibraryAlgorithms);
  settings.options.protocols =
      words_of(fields, "protocols", "protocol of the library", nccl::kProtocols);
  settings.options.ll128 = fields.boolean("ll128");
  settings.options.collnet = fields.boolean("collnet");
  fields.no_more();
  return settings;
}

// A calibration of another node type gives its factors and nothing else: the model warns where the
// generations differ.
std::optional<NodeSource> node_source(const io::Json* preset, const LibrarySettings& settings,
                                      const ParseContext& context) {
  const auto& calibration = settings.calibration;
  const nccl::Multipliers* factors = calibration != nullptr ? &calibration->multipliers : nullptr;
  if (preset != nullptr && !preset->is_null()) {
    if (!preset->is_string()) {
      context.problems.add(*preset, "must be a name or a file, got " + io::shown(*preset));
      return std::nullopt;
    }
    const io::NodePreset& found = context.files.node(*preset);
    NodeSource source{found.node, nccl::node_links(found.node, factors), preset->as_string(),
                      found.gpu};
    const auto price =
        std::ranges::find(found.numbers, "price_per_gpu_hour", &io::SourcedNumber::key);
    if (found.label == io::keys::kNodeLabels.back() && calibration == nullptr) {
      source.uncalibrated = found.note;
    }
    if (const auto* memory =
            base::found(found.numbers, "gpu_memory_bytes", &io::SourcedNumber::key)) {
      source.gpu_memory_bytes = memory->value;
    }
    if (price != found.numbers.end()) {
      source.price_per_gpu_hour = price->value;
      source.price_source = price->label + "; " + price->source;
    }
    return source;
  }
  if (calibration == nullptr) {
    return std::nullopt;
  }
  const nccl::NodeType& type = calibration->fitted.node;
  return NodeSource{type, nccl::node_links(type, factors), ""};
}

std::optional<std::string> library_problem(const nccl::LibraryQuestion& question) {
  try {
    nccl::refuse_impossible(question);
    return std::nullopt;
  } catch (const UsageError& error) {
    return error.what();
  }
}

} // namespace stepsim::study
