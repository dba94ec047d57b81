// Keys that a scenario has, too, are read by its readers into a cluster, of which the collective
// takes its links. Latency and bandwidth are required unless links, a topology, a calibration or a
// node type give the times of messages.
#include "run/collective_file.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/evaluate/measured_steps.hpp"
#include "collectives/schedule/two_level.hpp"
#include "document/json_text.hpp"
#include "links/profile/profile_curve.hpp"
#include "scenario/node_counts.hpp"
#include "scenario/scenario_fabric.hpp"
#include "scenario/scenario_parts.hpp"

namespace stepsim::study {

namespace {

// Without the object `network` its keys are reported as missing, too. Ranks that one node joins
// need no network, and a list of links no link of all pairs.
void parse_link(io::Fields& fields, const ParseContext& context, CollectiveFile& file) {
  const bool links = fields.has("links");
  const bool topology = fields.has("topology");
  Cluster& cluster = file.cluster;
  Network& network = cluster.network;
  io::Json empty{io::Object{}};
  if (!fields.has("network")) {
    empty.set_origin(fields.json().file_pointer(), fields.json().pointer() + "/network", 0);
  }
  const io::Json* json = fields.any("network");
  io::Fields part(fields.has("network") ? *json : empty, fields.problems(), fields.row("network"));
  if (!links && !topology) {
    take_node_network(cluster);
  }
  read_calibration(part, context, cluster);
  if (network.profile) {
    if (auto failed = links::grade_warning(*network.profile)) {
      file.warnings.push_back(std::move(*failed));
    }
  }
  constexpr std::string_view kRate = io::key_of<&Network::bandwidth_Bps>();
  const bool has_latency = part.has("latency_s");
  const bool given = has_latency || part.has(kRate) || part.has("delay_s");
  const bool known = network.bandwidth_Bps > 0 || topology || file.question;
  const bool leaves_node = cluster.nodes > 1 || (cluster.gpus_of_domain() == 1 && !cluster.intra);
  const bool required = !known && (given || (leaves_node && !links));
  part.refuse_if(required && network.profile && !(has_latency && part.has(kRate)), "calibration",
                 "calibration {} gives no latency and bandwidth of a network", network.calibration);
  read_link(part, required && !network.profile, cluster);
  part.no_more();

  collectives::Links& out = file.collective.links;
  const bool own_rate = network.profile && !part.has(kRate);
  out.all = {.latency_s = network.latency_s,
             .block_latency_s = network.block_latency_s,
             .per_byte_s = own_rate                    ? network_link(*network.profile).per_byte_s
                           : network.bandwidth_Bps > 0 ? 1 / network.bandwidth_Bps
                                                       : 0,
             .delay_s = network.delay_s};
  out.pairs_only = links && !has_latency && !network.profile;
  // The measured times of whole messages contain the delay of the calibration.
  if (network.profile && !given && !topology) {
    if (auto steps = collectives::measured_steps(*network.profile)) {
      out.measured = std::make_shared<const collectives::MeasuredSteps>(*std::move(steps));
    }
  }
  if (!own_rate && network.bandwidth_Bps > 0) {
    file.bandwidth_Bps = network.bandwidth_Bps;
  }
  file.has_delay = part.has("delay_s");
  file.collective.reduction_s_per_byte = network.reduction_Bps > 0 ? 1 / network.reduction_Bps : 0;
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

// Sets the nodes, the network inside them and the switches. The machines of a topology have
// `machine_gpus` GPUs (0 = it says nothing), and its cables are the interfaces.
void parse_nodes(io::Fields& fields, const ParseContext& context, std::uint32_t machine_gpus,
                 CollectiveFile& file) {
  Cluster& cluster = file.cluster;
  const bool counted = fields.has("gpus_per_node") || fields.has("ranks_per_node") || file.shape;
  if (machine_gpus > 0 && !counted) {
    cluster.gpus_per_node = machine_gpus;
  }
  if (cluster.equal_nodes()) {
    cluster.nodes = (file.collective.ranks - 1) / cluster.gpus_per_node + 1;
  }
  if (fields.has("topology") && !fields.has("nics_per_node")) {
    cluster.nics_per_node = 1;
  }
  read_switches(fields, cluster);
  for (const auto& [key, value] : {std::pair("nics_per_node", cluster.nics_per_node),
                                   std::pair("nvlink_domain_nodes", cluster.nvlink_domain_nodes)}) {
    if (fields.has("topology") && value != 1) {
      context.problems.refuse(fields.json(),
                              "/{} and /topology exclude each other: its cables are there", key);
    }
  }
  parse_intra(fields, context, cluster);
}

// Sets the two levels, unless nodes of one rank have no network and no switch of their own.
void set_levels(io::Fields& fields, const ParseContext& context, CollectiveFile& file) {
  Cluster& cluster = file.cluster;
  const bool several = cluster.gpus_of_domain() > 1;
  const bool switches = fields.has("nvls_Bps") || cluster.switch_latency_s;
  if (several && !cluster.intra && !fields.has("topology") && !file.question &&
      context.problems.empty()) {
    add_missing_intra(fields.json(), context, cluster);
  }
  if (!context.problems.empty()) {
    return;
  }
  if (cluster.nics_per_node > cluster.gpus_per_node && !file.question) {
    file.warnings.push_back(unused_interfaces(cluster.nics_per_node, cluster.gpus_per_node));
  }
  if (several || cluster.intra || switches) {
    file.collective.links.two_level =
        two_levels_of(cluster, nccl::switch_adds(fields.word("element_type", nccl::kElementTypes)));
  }
}

// Places the ranks, of which the last node may have fewer than the others, and behind them
// dedicated parameter servers.
void place_ranks(io::Fields& fields, const ParseContext& context, const links::Topology& topology,
                 CollectiveFile& file) {
  collectives::Collective& out = file.collective;
  const bool servers = out.algorithm == collectives::AlgorithmId::parameter_server &&
                       out.options.placement == collectives::Placement::dedicated;
  auto fabric = placed_on(topology, file.cluster, servers ? out.options.servers : 0,
                          *fields.any("topology"), context);
  if (!fabric) {
    return;
  }
  const auto first = fabric->hosts.begin();
  fabric->hosts.erase(first + out.ranks, first + file.cluster.ranks());
  if (!file.cluster.intra && ranks_share_hosts(*fabric, out.ranks)) {
    add_missing_intra(fields.json(), context, file.cluster);
  }
  out.links.fabric = std::make_shared<const links::RankFabric>(*std::move(fabric));
}

// Several interfaces next to an algorithm that uses one of them are a mistake.
void refuse_idle_interfaces(const CollectiveFile& file, const io::Json& tree,
                            io::Problems& problems) {
  const auto& [collective, levels] = std::tie(file.collective, file.collective.links.two_level);
  if (tree.find("nics_per_node") != nullptr && levels && levels->nics_per_node > 1 &&
      levels->gpus_per_node > 1 && collective.ranks > levels->gpus_per_node && !file.compression &&
      !file.question && collectives::leaves_nodes_once(collective)) {
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
  const bool library = file.question.has_value();
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

void parse_collective_network(io::Fields& fields, const ParseContext& context,
                              CollectiveFile& file) {
  if (fields.has("links") && fields.has("topology")) {
    context.problems.add(fields.json(), "/links and /topology exclude each other");
  }
  const io::Json* json = fields.given("topology");
  const auto topology = json != nullptr && context.problems.empty()
                            ? parse_topology_field(*json, context)
                            : std::nullopt;
  parse_nodes(fields, context,
              topology ? context.files.routed(*topology)->fabric.gpus_per_machine : 0, file);
  parse_link(fields, context, file);
  for (std::string* name : {&file.cluster.network.calibration, &file.cluster.intra_calibration}) {
    renew_name(*name, file.warnings);
  }
  parse_links_key(fields, context, file);
  set_levels(fields, context, file);
  collectives::Links& links = file.collective.links;
  if (links.two_level && links.all.per_byte_s == 0 && !topology && !file.question &&
      !fields.has("links")) { // nothing leaves the machine
    links.all = links.two_level->intra;
  }
  if (topology && context.problems.empty()) {
    place_ranks(fields, context, *topology, file);
  }
}

void refuse_unused_keys(const CollectiveFile& file, const io::Json& tree, io::Problems& problems) {
  refuse_other_keys(file, tree, problems);
  refuse_idle_interfaces(file, tree, problems);
  refuse_inner_algorithm(file.collective, tree, problems);
}

} // namespace stepsim::study
