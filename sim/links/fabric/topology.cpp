// Presets are rows: a name and its parameters, from which readers, help and schema take them. What
// a preset makes is bounded before it is made, by the number of its hosts and cables.
#include "links/fabric/topology.hpp"

#include <cassert>
#include <map>
#include <set>

#include "base/collected.hpp"
#include "base/quantity.hpp"

namespace stepsim::links {

namespace {

constexpr double kMaxHosts = 1 << 20;
constexpr double kMaxCables = 1 << 21;

constexpr PresetParameter needs(std::string_view name) { return {name, true}; }
constexpr PresetParameter takes(std::string_view name) { return {name, false}; }
constexpr PresetParameter kRate = needs("bandwidth_Bps");
constexpr PresetParameter kLatency = needs("latency_s");

constexpr std::array kHosts{needs("hosts"), kRate, kLatency}; // star and ring
constexpr std::array kLeafSpine{needs("leaves"), needs("hosts_per_leaf"),
                                needs("spines"), kRate,
                                kLatency,        takes("uplink_bandwidth_Bps")};
constexpr std::array kTorus{needs("width"), needs("height"), takes("depth"), kRate, kLatency};
constexpr std::array kFatTree{needs("ports"), kRate, kLatency};
constexpr std::array kDragonfly{
    needs("groups"), needs("routers_per_group"),    needs("hosts_per_router"), kRate,
    kLatency,        takes("global_bandwidth_Bps"), takes("global_latency_s")};
constexpr std::array kGpuNode{needs("gpus"),
                              takes("nodes"),
                              takes("nics_per_node"),
                              kRate,
                              kLatency,
                              takes("nvlink_bandwidth_Bps"),
                              takes("nvlink_latency_s"),
                              takes("pcie_bandwidth_Bps"),
                              takes("pcie_latency_s")};
constexpr std::array kRails{needs("nodes"),
                            needs("gpus_per_node"),
                            takes("nics_per_node"),
                            takes("spines"),
                            kRate,
                            kLatency,
                            takes("uplink_bandwidth_Bps"),
                            takes("nvlink_bandwidth_Bps"),
                            takes("nvlink_latency_s"),
                            takes("pcie_bandwidth_Bps"),
                            takes("pcie_latency_s")};

enum class Shape { star, leaf_spine, ring, torus, fat_tree, dragonfly, gpu_node, rail_optimised };
constexpr auto kShapes = base::words<Shape>();
constexpr Preset preset(Shape shape, std::span<const PresetParameter> parameters) {
  return {kShapes[shape], parameters};
}
constexpr std::array kPresets{
    preset(Shape::star, kHosts),       preset(Shape::leaf_spine, kLeafSpine),
    preset(Shape::ring, kHosts),       preset(Shape::torus, kTorus),
    preset(Shape::fat_tree, kFatTree), preset(Shape::dragonfly, kDragonfly),
    preset(Shape::gpu_node, kGpuNode), preset(Shape::rail_optimised, kRails)};

Shape shape_of(const Topology& topology) {
  const auto shape = kShapes.find(topology.preset);
  assert(shape && "a preset of the table");
  return *shape;
}

// The parameters of a topology by name.
class Values {
public:
  explicit Values(const Topology& topology) : topology_(topology) {}

  [[nodiscard]] double get(std::string_view name, double fallback) const {
    const auto* found =
        base::found(topology_.preset_parameters, name, &std::pair<std::string, double>::first);
    return found != nullptr ? found->second : fallback;
  }
  [[nodiscard]] double number(std::string_view name, double fallback = 1) const {
    return get(name, fallback);
  }
  [[nodiscard]] std::uint32_t count(std::string_view name, std::uint32_t fallback = 1) const {
    return static_cast<std::uint32_t>(get(name, fallback));
  }
  // "uplink" -> uplink_latency_s, uplink_bandwidth_Bps, else those of every cable.
  [[nodiscard]] LinkSpeed speed(const std::string& kind = "") const {
    const std::string prefix = kind.empty() ? "" : kind + "_";
    return {get(prefix + "latency_s", get("latency_s", 0)),
            get(prefix + std::string(kRate.name), get(kRate.name, 1))};
  }

private:
  const Topology& topology_;
};

// Network interfaces of a machine where the file does not say: one per GPU on rails, else one, or
// none for a machine alone.
double nics(const Values& values, Shape shape) {
  const bool rails = shape == Shape::rail_optimised;
  const double otherwise = rails                        ? values.number("gpus_per_node")
                           : values.number("nodes") > 1 ? 1
                                                        : 0;
  return values.number("nics_per_node", otherwise);
}

struct Size {
  double hosts, cables;
};
Size size_of(const Values& values, Shape shape) {
  const auto n = [&](std::string_view name) { return values.number(name); };
  switch (shape) {
  case Shape::star:
  case Shape::ring:
    return {n("hosts"), n("hosts")};
  case Shape::leaf_spine: {
    const double hosts = n("leaves") * n("hosts_per_leaf");
    return {hosts, hosts + n("leaves") * n("spines")};
  }
  case Shape::torus: {
    const double hosts = n("width") * n("height") * n("depth");
    return {hosts, 3 * hosts};
  }
  case Shape::fat_tree: {
    const double hosts = n("ports") * n("ports") * n("ports") / 4;
    return {hosts, 3 * hosts};
  }
  case Shape::dragonfly: {
    const double routers = n("groups") * n("routers_per_group");
    const double hosts = routers * n("hosts_per_router");
    return {hosts, hosts + routers * (n("routers_per_group") - 1) / 2 +
                       n("groups") * (n("groups") - 1) / 2};
  }
  case Shape::gpu_node:
  case Shape::rail_optimised: {
    const double hosts = n("nodes") * n(shape == Shape::gpu_node ? "gpus" : "gpus_per_node");
    return {hosts, 3 * hosts + nics(values, shape) * (n("nodes") + values.number("spines", 0))};
  }
  }
  assert(false && "every shape has a size");
  return {};
}

Fabric preset_fabric(const Topology& topology) {
  const Values values(topology);
  const Shape shape = shape_of(topology);
  const LinkSpeed link = values.speed();
  switch (shape) {
  case Shape::star:
    return star(values.count("hosts"), link);
  case Shape::leaf_spine:
    return leaf_spine({.leaves = values.count("leaves"),
                       .hosts_per_leaf = values.count("hosts_per_leaf"),
                       .spines = values.count("spines"),
                       .host = link,
                       .uplink = values.speed("uplink")});
  case Shape::ring:
    return ring(values.count("hosts"), link);
  case Shape::torus:
    return torus({values.count("width"), values.count("height"), values.count("depth")}, link);
  case Shape::fat_tree:
    return fat_tree(values.count("ports"), link);
  case Shape::dragonfly:
    return dragonfly({.groups = values.count("groups"),
                      .routers = values.count("routers_per_group"),
                      .hosts = values.count("hosts_per_router"),
                      .host = link,
                      .local = link,
                      .global = values.speed("global")});
  case Shape::gpu_node:
  case Shape::rail_optimised: {
    const bool rails = shape == Shape::rail_optimised;
    return gpu_machines({.machines = values.count("nodes"),
                         .gpus = values.count(rails ? "gpus_per_node" : "gpus"),
                         .nics = static_cast<std::uint32_t>(nics(values, shape)),
                         .nvlink = values.speed("nvlink"),
                         .pcie = values.speed("pcie"),
                         .network = link,
                         .rails = rails,
                         .spines = values.count("spines", 0),
                         .uplink = values.speed("uplink")});
  }
  }
  assert(false && "every shape has a fabric");
  return {};
}

// Hosts first, then switches, in the order of the file; each cable makes two links, one per
// direction, next to each other.
Fabric graph_fabric(const Topology& topology) {
  Fabric fabric;
  fabric.hosts = static_cast<std::uint32_t>(topology.hosts.size());
  fabric.switches = static_cast<std::uint32_t>(topology.switches.size());
  fabric.node_names = topology.hosts;
  fabric.node_names.insert(fabric.node_names.end(), topology.switches.begin(),
                           topology.switches.end());
  std::map<std::string_view, NodeId> node;
  for (NodeId id = 0; id < fabric.nodes(); ++id) {
    node.emplace(fabric.node_names[id], id);
  }
  std::set<std::string> names;
  const auto add = [&](const TopologyLink& cable, const std::string& from, const std::string& to) {
    assert(node.contains(from) && node.contains(to) && "links join known nodes");
    fabric.links.push_back({node[from], node[to], cable.latency_s, cable.bandwidth_Bps});
    // Links are named after their ends, or after a cable with a name of its own; parallel cables
    // get a number.
    std::string name = (cable.id == cable.a + "-" + cable.b ? from : cable.id) + ">" + to;
    if (names.contains(name)) {
      name.append("#").append(std::to_string(fabric.links.size() - 1));
    }
    names.insert(name);
    fabric.link_names.push_back(std::move(name));
  };
  for (const TopologyLink& cable : topology.links) {
    add(cable, cable.a, cable.b);
    add(cable, cable.b, cable.a);
  }
  for (const std::string& gpu : topology.gpus) {
    fabric.rank_hosts.push_back(node.at(gpu));
  }
  fabric.hosts_forward = fabric.hosts > 1 && !switches_join_hosts(fabric);
  return fabric;
}

std::string whole(double value) {
  return value < 1e15 ? std::to_string(static_cast<std::int64_t>(value)) : base::shortest(value);
}

} // namespace

std::span<const Preset> presets() { return kPresets; }

std::optional<ParameterProblem> preset_problem(const Topology& topology) {
  const Values values(topology);
  const Shape shape = shape_of(topology);
  if (shape == Shape::fat_tree && values.count("ports") % 2 != 0) {
    return ParameterProblem{"ports", "must be even, got " + whole(values.number("ports"))};
  }
  if (shape == Shape::gpu_node || shape == Shape::rail_optimised) {
    const std::string_view key = shape == Shape::gpu_node ? "gpus" : "gpus_per_node";
    if (nics(values, shape) > values.number(key)) {
      return ParameterProblem{"nics_per_node", "must be <= " + std::string(key) + " (" +
                                                   whole(values.number(key)) + "), got " +
                                                   whole(nics(values, shape))};
    }
  }
  const Size size = size_of(values, shape);
  if (size.hosts > kMaxHosts) {
    return ParameterProblem{"preset", "makes " + whole(size.hosts) + " hosts, at most 1048576"};
  }
  if (size.cables > kMaxCables) {
    return ParameterProblem{"preset", "makes " + whole(size.cables) + " cables, at most 2097152"};
  }
  return std::nullopt;
}

Fabric fabric_of(const Topology& topology) {
  return topology.preset.empty() ? graph_fabric(topology) : preset_fabric(topology);
}

} // namespace stepsim::links
