// Latency and bandwidth are required unless links or a topology give the times of messages. What
// only a file tells, such as the GPUs of a machine, is read after the keys themselves are known to
// be right.
#include "run/collective_file.hpp"

#include "collectives/evaluate/measured_steps.hpp"
#include "collectives/method.hpp"
#include "document/json_text.hpp"
#include "links/profile/profile_curve.hpp"
#include "run/collective_keys.hpp"
#include "scenario/node_counts.hpp"
#include "scenario/scenario_fabric.hpp"
#include "scenario/scenario_parts.hpp"

namespace stepsim::study {

namespace {

constexpr std::string_view kRate = io::key_of<&CollectiveFile::bandwidth_Bps>();

// What a network inside a node needs, in words.
std::string both_of_intra() {
  return std::string("/intra_network/latency_s and ")
      .append(io::pointer_to<&CollectiveFile::bandwidth_Bps, "/intra_network/">());
}

// The numbers of a calibration: those of the link that joins its ranks, else of its network.
struct Calibrated {
  collectives::LinkCost link;
  double reduction_Bps{};
  std::optional<collectives::MeasuredSteps> steps;
};
std::optional<Calibrated> parse_calibration(io::Fields& network, const ParseContext& context,
                                            CollectiveFile& file) {
  const io::Json* place = network.any("calibration");
  if (place == nullptr || !place->is_string()) {
    (void)network.optional_text("calibration"); // a problem, if it is not null
    return std::nullopt;
  }
  std::string name = place->as_string();
  study::renew_name(name, file.warnings);
  const links::NetworkProfile& profile = context.files.profile(*place);
  if (auto failed = links::grade_warning(profile)) {
    file.warnings.push_back(std::move(*failed));
  }
  Calibrated out;
  out.steps = collectives::measured_steps(profile);
  out.reduction_Bps = profile.reduction_Bps.value_or(0);
  if (const links::LinkClass* link = collectives::link_of_ranks(profile)) {
    out.link = cost_of(*link);
  } else if (profile.latency_s && profile.bandwidth_Bps) {
    out.link = cost_of(profile.any_link());
  } else {
    context.problems.add(*place, "calibration " + profile.name +
                                     " gives no latency and bandwidth of a network");
  }
  return out;
}

// A value beside a calibration wins. A latency is that of further blocks as well, unless these have
// one of their own. Without the object `network` its keys are reported as missing, too.
void parse_link(io::Fields& fields, const ParseContext& context, CollectiveFile& file) {
  const bool links = fields.has("links");
  const bool topology = fields.has("topology");
  io::Json empty{io::Object{}};
  if (!fields.has("network")) {
    empty.set_origin(fields.json().file_pointer(), fields.json().pointer() + "/network", 0);
  }
  const io::Json* json = fields.any("network");
  io::Fields network(fields.has("network") ? *json : empty, fields.problems(),
                     fields.row("network"));
  collectives::Links& out = file.collective.links;
  const std::optional<Calibrated> calibrated = parse_calibration(network, context, file);
  const bool given = network.has("latency_s") || network.has(kRate) || network.has("delay_s");
  const bool filled = file.system.node && !topology && !links && !calibrated;
  const CollectiveSystem& system = file.system;
  const io::Json* gpus = fields.json().find("gpus_per_node");
  const std::int64_t machine = system.shape                            ? system.shape->gpus
                               : gpus != nullptr && gpus->is_integer() ? gpus->as_integer()
                                                                       : 1;
  const bool crosses = file.collective.ranks > machine || !fields.has("intra_network");
  const bool needed =
      !topology && !filled && !system.question && !calibrated && (links ? given : given || crosses);
  const auto number = [&](std::string_view key, double of_calibration, double of_node) {
    if (filled) {
      const double value = network.number_or(key, of_node);
      note_override(file, network, key, value != of_node);
      return value;
    }
    return needed ? network.required_number(key) : network.number_or(key, of_calibration);
  };
  const nccl::NodeLinks node = filled ? file.system.node->links : nccl::NodeLinks{};
  const collectives::LinkCost before = calibrated ? calibrated->link : collectives::LinkCost{};
  out.all.latency_s = number("latency_s", before.latency_s, node.network_latency_s);
  const double rate =
      number(kRate, before.per_byte_s > 0 ? 1 / before.per_byte_s : 0, node.network_Bps);
  const bool own_rate = calibrated && !network.has(kRate);
  out.all.per_byte_s = own_rate ? before.per_byte_s : rate > 0 ? 1 / rate : 0;
  const bool own_latency = calibrated && !network.has("latency_s");
  out.all.block_latency_s = network.number_or(
      "block_latency_s", own_latency ? before.block_latency_s : out.all.latency_s);
  out.all.delay_s = network.number_or("delay_s", before.delay_s);
  file.has_delay = network.has("delay_s");
  out.pairs_only = links && !network.has("latency_s") && !calibrated;
  // The measured times of whole messages contain the delay of the calibration.
  if (calibrated && calibrated->steps && !given && !topology) {
    out.measured = std::make_shared<const collectives::MeasuredSteps>(*calibrated->steps);
  }
  if (network.has(kRate) || filled) {
    file.bandwidth_Bps = rate;
  }
  file.reduction_Bps = calibrated ? network.number_or("reduction_Bps", calibrated->reduction_Bps)
                                  : network.number("reduction_Bps");
  file.collective.reduction_s_per_byte = file.reduction_Bps > 0 ? 1 / file.reduction_Bps : 0;
  network.no_more();
}

// A file, or its object. Every pair has the latency of its further blocks from `network` where that
// gives one.
void parse_links_key(io::Fields& fields, const ParseContext& context, CollectiveFile& file) {
  const io::Json* json = fields.given("links");
  if (json == nullptr || !context.problems.empty()) {
    return;
  }
  collectives::Collective& out = file.collective;
  const std::uint32_t ranks = out.ranks;
  const io::LinksFile links =
      json->is_string() ? context.files.links(*json, ranks) : io::parse_links(*json, ranks);
  file.links_file = json->is_string() ? path_of(*json) : std::string(json->file());
  file.links_pointer = json->is_string() ? std::string() : json->pointer();
  out.links.pairs = links.pairs;
  out.reduction_s_per_byte_rank = links.reduction_s_per_byte;
  out.enter_s = links.enter_s;
  out.chain = links.chain;
  if (const io::Json* network = fields.json().find("network");
      network != nullptr && network->is_object() && network->find("block_latency_s") != nullptr) {
    for (collectives::PairCost& pair : out.links.pairs) {
      pair.cost.block_latency_s = out.links.all.block_latency_s;
    }
  }
}

// The host of every rank on the topology, packed in the order of its hosts: gpus_per_node ranks
// share a host. Dedicated parameter servers follow, each on a node of its own after those of the
// workers.
std::vector<links::NodeId> hosts_of(const links::Fabric& fabric, io::Fields& fields,
                                    const ParseContext& context,
                                    const collectives::Collective& collective) {
  const auto& levels = collective.links.two_level;
  const std::uint32_t gpus = levels ? levels->gpus_per_node : 1;
  const bool listed = levels && !levels->ranks_per_node.empty();
  const std::uint32_t nodes = listed ? static_cast<std::uint32_t>(levels->ranks_per_node.size())
                                     : (collective.ranks - 1) / gpus + 1;
  const bool servers = collective.algorithm == collectives::AlgorithmId::parameter_server &&
                       collective.options.placement == collectives::Placement::dedicated;
  const std::uint32_t all = nodes + (servers ? collective.options.servers : 0);
  constexpr auto kPacked = links::PlacementRule::packed;
  if (const std::string problem = links::placement_problem(fabric, all, gpus, kPacked);
      !problem.empty()) {
    fields.refuse("topology", problem);
    return {};
  }
  std::vector<links::NodeId> hosts = links::place_ranks(fabric, nodes, gpus, kPacked);
  if (listed) {
    hosts = first_places(hosts, gpus, levels->ranks_per_node);
  }
  hosts.resize(collective.ranks);
  const bool shared = gpus > 1 && std::ranges::adjacent_find(hosts) != hosts.end();
  if (shared && levels->intra.per_byte_s <= 0) {
    context.problems.add(fields.json(), "/gpus_per_node needs " + both_of_intra());
  }
  // Servers are placed together with the workers, so that the placement leaves the workers where
  // they are; of each server's node its first place is taken.
  const std::vector<links::NodeId> with_servers = links::place_ranks(fabric, all, gpus, kPacked);
  for (std::size_t node = nodes; node < all; ++node) {
    hosts.push_back(with_servers[node * gpus]);
  }
  return hosts;
}

// Machines that one fast network joins, as written or of the node type; fewer nodes than a domain
// has are one domain.
std::uint32_t domain_nodes(io::Fields& fields, std::uint32_t gpus, const CollectiveFile& file) {
  const std::int64_t written = fields.integer("nvlink_domain_nodes");
  const std::vector<std::int64_t>& counts = file.system.ranks_per_node;
  const std::uint32_t nodes = counts.empty()
                                  ? (file.collective.ranks + gpus - 1) / std::max(gpus, 1U)
                                  : static_cast<std::uint32_t>(counts.size());
  const bool full = !counts.empty() || file.collective.ranks % gpus == 0;
  if (!fields.has("nvlink_domain_nodes")) {
    return static_cast<std::uint32_t>(file.system.node ? domain_nodes_of(file.system.node, nodes)
                                                       : 1);
  }
  if (nodes % static_cast<std::uint32_t>(written) != 0 || !full) {
    fields.refuse("nvlink_domain_nodes", "must divide the nodes (" + std::to_string(nodes) +
                                             "), got " + std::to_string(written));
    return 1;
  }
  return static_cast<std::uint32_t>(written);
}

// The network inside a node; `filled` takes values that are not given from the node type.
void read_intra(io::Fields& fields, bool filled, CollectiveFile& file) {
  const nccl::NodeLinks node = filled ? file.system.node->links : nccl::NodeLinks{};
  collectives::LinkCost& out = file.collective.links.two_level->intra;
  if (filled) {
    out = {node.inner_latency_s, node.inner_latency_s, 1 / node.inner_Bps};
  }
  fields.object("intra_network", [&](io::Fields& inner) {
    if (!filled && inner.has("latency_s") != inner.has(kRate)) {
      fields.problems().add(fields.json(), "give both " + both_of_intra());
      inner.know_all();
      return;
    }
    const auto number = [&](std::string_view key, double of_node) {
      const double value = filled ? inner.number_or(key, of_node) : inner.number(key);
      note_override(file, inner, key, filled && value != of_node);
      return value;
    };
    out.latency_s = out.block_latency_s = number("latency_s", node.inner_latency_s);
    out.per_byte_s = 1 / number(kRate, node.inner_Bps);
    out.delay_s = inner.number_or("delay_s", 0);
  });
}

// On a topology the GPUs of a machine follow from it and its cables are the interfaces; without one
// the network inside a node must be given.
void parse_two_level(io::Fields& fields, const ParseContext& context, std::uint32_t machine_gpus,
                     CollectiveFile& file) {
  const bool topology = fields.has("topology");
  const CollectiveSystem& system = file.system;
  const std::uint32_t gpus = gpus_per_node(fields, machine_gpus, file);
  const std::uint32_t nics = nics_per_node(fields, gpus, file);
  const std::uint32_t domain = topology ? 1 : domain_nodes(fields, gpus, file);
  const bool filled = system.node && gpus * domain > 1;
  const bool intra = fields.given("intra_network") != nullptr || filled;
  if (topology && nics != 1) {
    context.problems.add(fields.json(),
                         "/nics_per_node and /topology exclude each other: its cables are there");
  } else if (!intra && !topology && !system.node && !system.question && context.problems.empty() &&
             (gpus != 1 || nics != 1 || fields.has("nvlink_domain_nodes"))) {
    context.problems.add(fields.json(), "/gpus_per_node needs " + both_of_intra());
  }
  const std::optional<collectives::NvlsCost> nvls = read_nvls(fields, system.node);
  const std::optional<double> switch_latency_s = read_switch_latency(fields);
  const bool switches = fields.has("nvls_Bps") || switch_latency_s;
  if ((!intra && gpus * domain == 1 && (nics == 1 || system.node) && !switches) ||
      !context.problems.empty()) {
    return;
  }
  if (nics > gpus && !system.question) {
    file.warnings.push_back(unused_interfaces(nics, gpus));
  }
  collectives::TwoLevel& out = file.collective.links.two_level.emplace();
  out.gpus_per_node = gpus * domain;
  out.nics_per_node = std::min(nics, gpus) * domain; // a GPU uses one
  if (!system.ranks_per_node.empty()) {
    out.ranks_per_node = domain_ranks(system.ranks_per_node, domain);
    const auto domains = static_cast<std::uint32_t>(system.ranks_per_node.size()) / domain;
    out.gpus_per_node = out.ranks_per_node.empty() ? file.collective.ranks / domains
                                                   : *std::ranges::max_element(out.ranks_per_node);
  }
  out.nvls = nvls;
  out.switch_latency_s = switch_latency_s;
  read_intra(fields, filled, file);
}

} // namespace

void parse_collective_network(io::Fields& fields, const ParseContext& context,
                              CollectiveFile& file) {
  if (fields.has("links") && fields.has("topology")) {
    context.problems.add(fields.json(), "/links and /topology exclude each other");
  }
  parse_link(fields, context, file);
  parse_links_key(fields, context, file);
  const io::Json* json = fields.given("topology");
  const bool routed = json != nullptr && context.problems.empty();
  const auto topology = routed ? parse_topology_field(*json, context) : std::nullopt;
  const auto network = topology ? context.files.routed(*topology) : nullptr;
  parse_two_level(fields, context, network ? network->fabric.gpus_per_machine : 0, file);
  collectives::Links& links = file.collective.links;
  if (links.two_level && links.all.per_byte_s == 0 && !routed && !file.system.question &&
      !fields.has("links")) { // nothing leaves the machine
    links.all = links.two_level->intra;
  }
  if (network && context.problems.empty()) {
    collectives::Collective& collective = file.collective;
    collective.links.fabric = std::make_shared<const links::RankFabric>(
        links::RankFabric{.network = network,
                          .hosts = hosts_of(network->fabric, fields, context, collective),
                          .paths = {}});
  }
}

namespace {

// Several interfaces next to an algorithm that uses one of them are a mistake.
void refuse_idle_interfaces(const CollectiveFile& file, const io::Json& tree,
                            io::Problems& problems) {
  const auto& [collective, levels] = std::tie(file.collective, file.collective.links.two_level);
  if (tree.find("nics_per_node") != nullptr && levels && levels->nics_per_node > 1 &&
      levels->gpus_per_node > 1 && collective.ranks > levels->gpus_per_node && !file.compression &&
      !file.system.question && collectives::leaves_nodes_once(collective)) {
    problems.add(tree, "nics_per_node",
                 "has no meaning for " + std::string(collectives::name(collective.algorithm)) +
                     ", which is flat and uses one network card of a node; two_level and "
                     "ring_rails use them all");
  }
}

// The switches of the network add what rings, or the switch of a node, have summed inside nodes.
void refuse_inner_algorithm(const collectives::Collective& collective, const io::Json& tree,
                            io::Problems& problems) {
  const io::Json* given = io::resolve(tree, "/options/intra_algorithm");
  if (given != nullptr && !given->is_null() && collective.algorithm == collectives::kCollnet &&
      collective.options.intra_algorithm != collectives::kNvls) {
    problems.add(*given, "has no meaning for " + std::string(collectives::kCollnetInside));
  }
}

// Keys of one algorithm or operation are a mistake next to another.
void refuse_other_keys(const CollectiveFile& file, const io::Json& tree, io::Problems& problems) {
  const collectives::Collective& collective = file.collective;
  const bool servers = collective.algorithm == collectives::AlgorithmId::parameter_server;
  const bool chooses = collective.algorithm == collectives::AlgorithmId::automatic;
  const bool rooted =
      collective.op == collectives::Op::broadcast || collective.op == collectives::Op::reduce;
  const bool library = file.system.question.has_value();
  const bool asks = library || file.compression.has_value();
  const bool leader = collective.algorithm == collectives::AlgorithmId::hierarchical_leader;
  const bool levels = collectives::has_level_algorithms(collective.algorithm) || chooses;
  const auto uses = [&](auto is_it) { // itself, or on one of its levels
    const collectives::Options& options = collective.options;
    return chooses ||
           (!asks && (is_it(collectives::algorithm(collective.algorithm)) ||
                      (levels && is_it(collectives::algorithm(options.inter_algorithm))) ||
                      (leader && is_it(collectives::algorithm(options.intra_algorithm)))));
  };
  const bool blocks = uses([](const collectives::Algorithm& row) {
    return row.block_streams > 0 || row.node_blocks != nullptr;
  });
  const bool switches = uses([](const collectives::Algorithm& row) { return row.in_switch; });
  const bool crosses = chooses || (!asks && collective.algorithm == collectives::kCollnet);
  const bool rings = levels || collective.algorithm == collectives::AlgorithmId::ring;
  const bool pipes = uses(
      [](const collectives::Algorithm& row) { return row.id == collectives::AlgorithmId::lp; });
  struct Use {
    const char* pointer;
    bool counts;
    const char* with;
  };
  for (const auto& [pointer, counts, with] :
       {Use{"/options/servers", servers, "parameter_server"},
        Use{"/options/placement", servers, "parameter_server"},
        Use{"/options/candidates", chooses, "auto"},
        Use{"/options/block_bytes", blocks, "lp, double_binary_tree, ring_rails and auto"},
        Use{"/network/block_latency_s", blocks, "lp, double_binary_tree, ring_rails and auto"},
        Use{"/options/lp_last_hop", pipes, "lp and auto"},
        Use{"/options/ring_startup", rings, "ring, hierarchical, hierarchical_leader and auto"},
        Use{"/options/inter_algorithm", levels, "hierarchical, hierarchical_leader and auto"},
        Use{"/options/intra_algorithm", leader || crosses, "hierarchical_leader, collnet and auto"},
        Use{"/options/exchange_sizes", collective.op == collectives::Op::allgatherv, "allgatherv"},
        Use{"/nvls_Bps", switches, "nvls, nvls_tree, collnet and auto"},
        Use{"/nvls_startup_s", switches, "nvls, nvls_tree, collnet and auto"},
        Use{"/switch_latency_s", crosses, "collnet and auto"},
        Use{"/library/version", library, "library"}, Use{"/library/choice", library, "library"},
        Use{"/library/residual", library, "library"},
        Use{"/library/algorithms", library, "library"},
        Use{"/library/protocols", library, "library"},
        Use{"/root", rooted, "broadcast and reduce"}}) {
    const io::Json* given = io::resolve(tree, pointer);
    if (given != nullptr && !given->is_null() && !counts) {
      problems.add(*given, std::string("applies to ") + with + " only");
    }
  }
}

} // namespace

void refuse_unused_keys(const CollectiveFile& file, const io::Json& tree, io::Problems& problems) {
  refuse_other_keys(file, tree, problems);
  refuse_idle_interfaces(file, tree, problems);
  refuse_inner_algorithm(file.collective, tree, problems);
}

} // namespace stepsim::study
