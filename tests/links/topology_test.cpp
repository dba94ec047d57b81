#include "links/fabric/topology.hpp"

#include <doctest/doctest.h>

#include "links/fabric/fabric.hpp"
#include "links/fabric/routes.hpp"

namespace stepsim::links {
namespace {

using Parameters = std::vector<std::pair<std::string, double>>;

Topology preset(std::string name, Parameters parameters) {
  Topology topology;
  topology.preset = std::move(name);
  topology.preset_parameters = std::move(parameters);
  topology.preset_parameters.emplace_back("bandwidth_Bps", 1.25e9);
  topology.preset_parameters.emplace_back("latency_s", 1e-6);
  return topology;
}

std::string problem(const Topology& topology) {
  const auto found = preset_problem(topology);
  return found ? std::string(found->parameter) + ": " + found->message : "";
}

double rate_of(const Fabric& fabric, std::string_view link) {
  for (LinkId id = 0; id < fabric.links.size(); ++id) {
    if (fabric.link_names[id] == link) {
      return fabric.links[id].bandwidth_Bps;
    }
  }
  return 0;
}

TopologyLink cable(std::string a, std::string b, std::string id = "") {
  TopologyLink link{.id = std::move(id),
                    .a = std::move(a),
                    .b = std::move(b),
                    .latency_s = 1e-6,
                    .bandwidth_Bps = 1e9,
                    .source = ""};
  if (link.id.empty()) {
    link.id = link.a + "-" + link.b;
  }
  return link;
}

} // namespace

TEST_CASE("topology: every preset of the table becomes a fabric without problems") {
  struct Row {
    std::string name;
    Parameters parameters;
    std::uint32_t hosts, switches;
  };
  const std::vector<Row> rows = {
      {"star", {{"hosts", 5}}, 5, 1},
      {"leaf_spine", {{"leaves", 9}, {"hosts_per_leaf", 16}, {"spines", 4}}, 9 * 16, 9 + 4},
      {"ring", {{"hosts", 5}}, 5, 0},
      {"torus", {{"width", 3}, {"height", 4}}, 3 * 4, 0},
      {"torus", {{"width", 3}, {"height", 4}, {"depth", 2}}, 3 * 4 * 2, 0},
      {"fat_tree", {{"ports", 4}}, 4 * 4 * 4 / 4, 5 * 4 * 4 / 4},
      {"dragonfly", {{"groups", 5}, {"routers_per_group", 2}, {"hosts_per_router", 3}}, 30, 10},
      {"gpu_node", {{"gpus", 8}}, 8, 1},
      {"gpu_node", {{"gpus", 8}, {"nics_per_node", 4}}, 8, 1 + 8 + 4 + 1},
      {"gpu_node", {{"gpus", 8}, {"nodes", 2}}, 16, 2 * (1 + 8 + 1) + 1},
      {"rail_optimised", {{"nodes", 2}, {"gpus_per_node", 4}}, 8, 2 * (1 + 4 + 4) + 4},
      {"rail_optimised",
       {{"nodes", 2}, {"gpus_per_node", 4}, {"nics_per_node", 2}, {"spines", 3}},
       8,
       2 * (1 + 4 + 2) + 2 + 3},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Topology topology = preset(row.name, row.parameters);
    CHECK(problem(topology) == "");
    const Fabric fabric = fabric_of(topology);
    CHECK(fabric.hosts == row.hosts);
    CHECK(fabric.switches == row.switches);
    CHECK(fabric_problem(fabric).empty());
    for (const FabricLink& link : fabric.links) {
      CHECK(link.bandwidth_Bps == 1.25e9);
      CHECK(link.latency_s == 1e-6);
    }
    CHECK(Routes(fabric).distance(0, fabric.hosts - 1) > 0);
  }
  CHECK(presets().size() == 8);
}

TEST_CASE("topology: rates of a kind of link override those of all") {
  const Fabric leaves = fabric_of(
      preset("leaf_spine",
             {{"leaves", 2}, {"hosts_per_leaf", 2}, {"spines", 1}, {"uplink_bandwidth_Bps", 5e9}}));
  CHECK(rate_of(leaves, "h3>leaf1") == 1.25e9);
  CHECK(rate_of(leaves, "leaf1>spine0") == 5e9);
  const Fabric dragonfly = fabric_of(preset("dragonfly", {{"groups", 2},
                                                          {"routers_per_group", 2},
                                                          {"hosts_per_router", 1},
                                                          {"global_bandwidth_Bps", 2e9}}));
  CHECK(rate_of(dragonfly, "group0router0>group0router1") == 1.25e9);
  CHECK(rate_of(dragonfly, "group0router0>group1router0") == 2e9);
  const Fabric rails = fabric_of(preset("rail_optimised", {{"nodes", 2},
                                                           {"gpus_per_node", 2},
                                                           {"spines", 1},
                                                           {"uplink_bandwidth_Bps", 2e9},
                                                           {"nvlink_bandwidth_Bps", 3e9},
                                                           {"pcie_bandwidth_Bps", 4e9}}));
  CHECK(rate_of(rails, "node0gpu1>node0nvswitch") == 3e9);
  CHECK(rate_of(rails, "node0gpu1>node0pcie1") == 4e9);
  CHECK(rate_of(rails, "node0pcie1>node0nic1") == 4e9);
  CHECK(rate_of(rails, "node0nic1>rail1") == 1.25e9);
  CHECK(rate_of(rails, "rail1>spine0") == 2e9);
}

TEST_CASE("topology: parameters that do not go together") {
  CHECK(problem(preset("fat_tree", {{"ports", 5}})) == "ports: must be even, got 5");
  CHECK(problem(preset("gpu_node", {{"gpus", 4}, {"nics_per_node", 8}})) ==
        "nics_per_node: must be <= gpus (4), got 8");
  CHECK(problem(
            preset("rail_optimised", {{"nodes", 1}, {"gpus_per_node", 4}, {"nics_per_node", 5}})) ==
        "nics_per_node: must be <= gpus_per_node (4), got 5");
  CHECK(problem(preset("fat_tree", {{"ports", 200}})) ==
        "preset: makes 2000000 hosts, at most 1048576"); // 200^3 / 4
  CHECK(problem(preset("torus", {{"width", 1e7}, {"height", 1e7}, {"depth", 1e7}})) ==
        "preset: makes 1e+21 hosts, at most 1048576");
  CHECK(problem(preset("leaf_spine", {{"leaves", 1000}, {"hosts_per_leaf", 1}, {"spines", 1e4}})) ==
        "preset: makes 10001000 cables, at most 2097152");
}

TEST_CASE("topology: a graph keeps its order, cable c is links 2c and 2c + 1") {
  Topology topology;
  topology.hosts = {"a", "b"};
  topology.switches = {"s"};
  topology.links = {cable("a", "s"), cable("s", "b", "thick"), cable("s", "b", "thin")};
  topology.gpus = {"b", "a"};
  const Fabric fabric = fabric_of(topology);
  CHECK(fabric.node_names == std::vector<std::string>{"a", "b", "s"});
  CHECK(fabric.link_names ==
        std::vector<std::string>{"a>s", "s>a", "thick>b", "thick>s", "thin>b", "thin>s"});
  CHECK(fabric.links[3].from == 1);
  CHECK(fabric.links[3].to == 2);
  CHECK(fabric.rank_hosts == std::vector<NodeId>{1, 0});
  CHECK_FALSE(fabric.hosts_forward);
  CHECK(fabric_problem(fabric).empty());
  CHECK(Routes(fabric).path_count(0, 1) == 2);
}

TEST_CASE("topology: hosts of a graph forward where switches do not join all of them") {
  Topology line;
  line.hosts = {"a", "b", "c"};
  line.links = {cable("a", "b"), cable("b", "c")};
  CHECK(fabric_of(line).hosts_forward);
  CHECK(Routes(fabric_of(line)).distance(0, 2) == 2);
  line.switches = {"s"};
  line.links.push_back(cable("a", "s"));
  line.links.push_back(cable("c", "s"));
  CHECK(fabric_of(line).hosts_forward); // b hangs on hosts only
  line.links.push_back(cable("b", "s"));
  CHECK_FALSE(fabric_of(line).hosts_forward);
  CHECK(Routes(fabric_of(line)).ecmp_path(0, 2, 0, 1) == std::vector<LinkId>{4, 7});
}

TEST_CASE("topology: names of links stay different") {
  Topology topology; // a node that is called like a cable, and two cables alike
  topology.hosts = {"x", "y"};
  topology.links = {cable("x", "y"), cable("y", "x", "x"), cable("x", "y", "x-y#1")};
  const Fabric fabric = fabric_of(topology);
  CHECK(fabric.link_names ==
        std::vector<std::string>{"x>y", "y>x", "x>x", "x>y#3", "x-y#1>y", "x-y#1>x"});
  CHECK(fabric_problem(fabric).empty());
}

} // namespace stepsim::links
