// Where a scenario runs: topology, place of the ranks, and the packet block (PKT 3, 6, 7).
//
//     topology  given, or a star: one cable of the network's latency / 2 and bandwidth per node
//     hosts     of every rank (placement.hpp), then of every dedicated server: the next machines
#include "scenario/scenario_fabric.hpp"

#include "document/json_text.hpp"
#include "scenario/node_counts.hpp"
#include "scenario/scenario_parts.hpp"

namespace stepsim::study {

namespace {

std::uint32_t dedicated_servers(const Scenario& scenario) {
  const auto jobs = static_cast<std::uint32_t>(1 + scenario.other_jobs.size());
  return jobs * scenario.communication.dedicated_servers();
}

// A message crosses two cables of the star, each with half of the latency and of the delay of a
// calibration, so that between two idle
// hosts it takes what the alpha-beta model says.
links::Topology star_of_nodes(const Scenario& scenario) {
  const Network& network = scenario.cluster.network;
  links::Topology star;
  star.preset = "star";
  const std::int64_t hosts = scenario.cluster.nodes + dedicated_servers(scenario);
  star.preset_parameters = {{"hosts", static_cast<double>(hosts)},
                            {"latency_s", (network.latency_s + network.delay_s) / 2},
                            {std::string(io::key_of<&Network::bandwidth_Bps>()),
                             network.bandwidth_Bps * network.efficiency}};
  return star;
}

// `packed`, `spread`, or a list of hosts by name or number.
links::Placement parse_placement(const io::Json& json, const ParseContext& context,
                                 const links::Fabric& fabric) {
  if (json.is_null()) {
    return links::PlacementRule::packed;
  }
  if (!json.is_array()) {
    const std::string word = json.is_string() ? json.as_string() : "";
    if (word != "packed" && word != "spread") {
      context.problems.add(json,
                           "must be packed, spread or a list of hosts, got " + io::shown(json));
    }
    return word == "spread" ? links::PlacementRule::spread : links::PlacementRule::packed;
  }
  std::vector<links::NodeId> hosts;
  for (const io::Json& each : json.as_array()) {
    hosts.push_back(
        named_or_numbered(each, "host", fabric.node_names, fabric.hosts, context.problems)
            .value_or(0));
  }
  return hosts;
}

// Hosts of ranks, then of servers; a list names them in this order.
// With a list the last hosts are those of the servers; else servers take the machines after those
// of the workers. Of nodes of different sizes each is placed as if it were as large as the largest,
// and its ranks take the first places of the node.
std::vector<links::NodeId> place(const links::Fabric& fabric, const Cluster& cluster,
                                 std::uint32_t servers, links::Placement placement,
                                 const io::Json& at, const ParseContext& context) {
  const auto nodes = static_cast<std::uint32_t>(cluster.nodes);
  const auto gpus = static_cast<std::uint32_t>(cluster.gpus_per_node);
  std::vector<links::NodeId> of_servers;
  auto* const list = std::get_if<std::vector<links::NodeId>>(&placement);
  if (list != nullptr) {
    if (!cluster.equal_nodes()) {
      require_equal_nodes(cluster, "a list of hosts", at, context.problems);
      return {};
    }
    const std::size_t named = list->size() - std::min<std::size_t>(list->size(), servers);
    if (servers > 0 && named != nodes && named != std::size_t{nodes} * gpus) {
      context.problems.add(at, "must name a host for each of " + std::to_string(nodes) +
                                   " nodes (or of " + std::to_string(nodes * gpus) +
                                   " ranks), then for each of " + std::to_string(servers) +
                                   " dedicated servers; got " + std::to_string(list->size()));
      return {};
    }
    const auto first = list->end() - static_cast<std::ptrdiff_t>(servers);
    of_servers.assign(first, list->end());
    list->erase(first, list->end());
  }
  const std::uint32_t machines = nodes + (list != nullptr ? 0 : servers);
  if (const std::string problem = links::placement_problem(fabric, machines, gpus, placement);
      !problem.empty()) {
    const std::string with =
        list != nullptr || servers == 0 ? "" : fmt::format(" (dedicated servers take {})", servers);
    context.problems.add(at, problem + with);
    return {};
  }
  std::vector<links::NodeId> hosts = links::place_ranks(fabric, machines, gpus, placement);
  for (std::size_t machine = nodes; machine < machines; ++machine) {
    of_servers.push_back(hosts[machine * gpus]);
  }
  hosts.resize(std::size_t{nodes} * gpus);
  if (!cluster.equal_nodes()) {
    const std::vector<std::uint32_t> counts(cluster.ranks_per_node.begin(),
                                            cluster.ranks_per_node.end());
    hosts = first_places(hosts, gpus, counts);
  }
  hosts.insert(hosts.end(), of_servers.begin(), of_servers.end());
  return hosts;
}

// What alpha_beta takes from a topology: the longest of the ways from every rank to the next, and
// to the one half-way round, and the narrowest link on them.
struct TopologyLink {
  double latency_s{}, bandwidth_Bps{};
};
// Neighbours and opposite ranks stand for all pairs: measuring every pair would take the square of
// the ranks.
TopologyLink measure_topology(const links::RankFabric& fabric, std::int64_t ranks) {
  double latency = 0;
  double bandwidth = INFINITY;
  for (std::int64_t src = 0; src < ranks; ++src) {
    for (const std::int64_t step : {std::int64_t{1}, ranks / 2}) {
      const links::NodeId from = fabric.hosts[static_cast<std::size_t>(src)];
      const links::NodeId to = fabric.hosts[static_cast<std::size_t>((src + step) % ranks)];
      double way = 0;
      for (const links::LinkId link : fabric.routes().ecmp_path(from, to, 0, fabric.paths.seed)) {
        way += fabric.fabric().links[link].latency_s;
        bandwidth = std::min(bandwidth, fabric.fabric().links[link].bandwidth_Bps);
      }
      latency = std::max(latency, way);
    }
  }
  return {latency, std::isfinite(bandwidth) ? bandwidth : 1};
}

// Latency and bandwidth of the scenario and of its calibration win; the topology gives the rest.
// A block latency that was not given follows the latency, wherever that comes from.
void fill_link(const io::Json& tree, const links::RankFabric& fabric, Cluster& cluster) {
  Network& network = cluster.network;
  const bool has_bandwidth = network.bandwidth_Bps > 0;
  const bool has_latency = is_given(tree, "/cluster/network/latency_s") ||
                           (network.profile.has_value() && has_bandwidth);
  const TopologyLink link = measure_topology(fabric, cluster.ranks());
  cluster.topology_gives_latency = !has_latency;
  cluster.topology_gives_bandwidth = !has_bandwidth;
  if (!has_latency) {
    network.latency_s = link.latency_s;
    if (!is_given(tree, "/cluster/network/block_latency_s")) {
      network.block_latency_s = link.latency_s;
    }
  }
  if (!has_bandwidth) {
    network.bandwidth_Bps = link.bandwidth_Bps;
  }
}

// The packet block, with the seed and the limit of the scenario.
// Values of training are fp32: a packet holds whole ones.
void resolve_packet(const io::Json& tree, const ParseContext& context, Scenario& scenario,
                    const links::Fabric& fabric) {
  Network& network = scenario.cluster.network;
  const io::Json* json = io::resolve(tree, "/cluster/network/packet");
  // A packet that held half a value could be lost without its other half.
  constexpr std::uint32_t kValueBytes = 4;
  network.packet = parse_packet(json, context, fabric, kValueBytes);
  links::PacketOptions& options = network.packet.options;
  options.seed = static_cast<std::uint64_t>(scenario.seed);
  options.simulated_s = scenario.simulated_limit.value;
  if (network.model != NetworkModel::packet) {
    return;
  }
  const io::Json* topology = io::resolve(tree, "/cluster/topology");
  check_packet_links(topology != nullptr ? *topology : tree, context, fabric);
  require_transport(*io::resolve(tree, "/cluster/network"), context, network.packet);
  scenario.warnings.insert(scenario.warnings.end(), network.packet.warnings.begin(),
                           network.packet.warnings.end());
}

} // namespace

std::optional<links::RankFabric> placed_on(const links::Topology& topology, const Cluster& cluster,
                                           std::uint32_t servers, const io::Json& at,
                                           const ParseContext& context) {
  links::RankFabric fabric{.network = context.files.routed(topology)};
  links::Placement placement = parse_placement(cluster.rank_placement, context, fabric.fabric());
  if (context.problems.empty()) {
    fabric.hosts = place(fabric.fabric(), cluster, servers, std::move(placement),
                         cluster.rank_placement.is_null() ? at : cluster.rank_placement, context);
  }
  return context.problems.empty() ? std::optional(std::move(fabric)) : std::nullopt;
}

// Sorted copies of the hosts have equal neighbours then.
bool ranks_share_hosts(const links::RankFabric& fabric, std::int64_t ranks) {
  std::vector<links::NodeId> hosts(fabric.hosts.begin(), fabric.hosts.begin() + ranks);
  std::ranges::sort(hosts);
  return std::ranges::adjacent_find(hosts) != hosts.end();
}

// Without a topology a simulated network is a star of the nodes. alpha_beta takes at most a latency
// and a bandwidth from a topology and forgets its hosts. Dedicated servers have hosts in simulated
// networks only.
void resolve_fabric(const io::Json& tree, const ParseContext& context, Scenario& scenario) {
  Cluster& cluster = scenario.cluster;
  Network& network = cluster.network;
  const bool simulated = network.model != NetworkModel::alpha_beta;
  if (!simulated && cluster.topology.is_null()) {
    return;
  }
  const io::Json& at = cluster.topology.is_null() ? *io::resolve(tree, "/cluster")
                                                  : *io::resolve(tree, "/cluster/topology");
  const std::optional<links::Topology> topology =
      cluster.topology.is_null() ? std::optional(star_of_nodes(scenario))
                                 : parse_topology_field(cluster.topology, context);
  if (!topology) {
    return;
  }
  scenario.warnings.insert(scenario.warnings.end(), topology->warnings.begin(),
                           topology->warnings.end());
  const std::uint32_t servers = simulated ? dedicated_servers(scenario) : 0;
  auto fabric = placed_on(*topology, cluster, servers, at, context);
  if (!fabric) {
    return;
  }
  fabric->paths.seed = static_cast<std::uint64_t>(scenario.seed);
  if (!simulated) {
    fill_link(tree, *fabric, cluster);
    return;
  }
  if (!cluster.intra && ranks_share_hosts(*fabric, cluster.ranks())) {
    add_missing_intra(*io::resolve(tree, "/cluster"), context, cluster);
  }
  if (cluster.node && !is_given(tree, "/cluster/nics_per_node")) {
    cluster.nics_per_node = 1; // the node type's cards are not those of the topology
  }
  if (cluster.node && !is_given(tree, "/cluster/nvlink_domain_nodes")) {
    cluster.nvlink_domain_nodes = 1; // nor are its NVLink domains
  }
  if (context.leftovers == Leftovers::ignore) {
    cluster.nics_per_node = 1;
  }
  if (cluster.nics_per_node > 1) {
    context.problems.add(*io::resolve(tree, "/cluster"), "nics_per_node",
                         "nics_per_node has no meaning for network model " +
                             std::string(kNetworkModels[network.model]) +
                             ": interfaces are links of the topology");
  }
  resolve_packet(tree, context, scenario, fabric->fabric());
  const links::PacketOptions& options = network.packet.options;
  fabric->paths.spray = links::is_sprayed(options.load_balancing);
  if (network.count_headers) {
    fabric->headers = {.payload_bytes = static_cast<double>(options.full_payload()),
                       .header_bytes =
                           static_cast<double>(options.header_bytes + options.wire_overhead_bytes)};
  }
  cluster.fabric = std::make_shared<const links::RankFabric>(*std::move(fabric));
  check_network_use(tree, context, scenario);
}

// Only keys that the network model reads are shown: what is shown can be read again.
void add_fabric_keys(const Cluster& cluster, io::Json& cluster_tree, io::Json& network_tree) {
  const Network& network = cluster.network;
  network_tree.set("model", kNetworkModels[network.model]);
  io::set_given(cluster_tree, "topology", cluster.topology);
  cluster_tree.set("rank_placement",
                   cluster.rank_placement.is_null() ? io::Json("packed") : cluster.rank_placement);
  network_tree.set("count_headers", network.count_headers);
  if (cluster.fabric && (network.packet.has_transport || network.model == NetworkModel::packet)) {
    network_tree.set("packet", packet_tree(network.packet, cluster.fabric->fabric()));
  }
}

} // namespace stepsim::study
