#include "links/fabric/topology.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "links/fabric/routes.hpp"

namespace stepsim::links {
namespace {

constexpr LinkSpeed kHost{1e-6, 1.25e9};
constexpr LinkSpeed kUplink{2e-6, 5e9};

// Ends, names and directions; every name once.
void check_form(const Fabric& fabric) {
  REQUIRE(fabric.node_names.size() == fabric.nodes());
  REQUIRE(fabric.link_names.size() == fabric.links.size());
  REQUIRE(fabric.links.size() % 2 == 0);
  for (std::size_t i = 0; i < fabric.links.size(); i += 2) {
    CHECK(fabric.links[i].from == fabric.links[i + 1].to);
    CHECK(fabric.links[i].to == fabric.links[i + 1].from);
    CHECK(fabric.links[i].from != fabric.links[i].to);
    CHECK(fabric.links[i].bandwidth_Bps == fabric.links[i + 1].bandwidth_Bps);
    CHECK(fabric.links[i].latency_s == fabric.links[i + 1].latency_s);
  }
  CHECK(std::set(fabric.node_names.begin(), fabric.node_names.end()).size() == fabric.nodes());
  CHECK(std::set(fabric.link_names.begin(), fabric.link_names.end()).size() == fabric.links.size());
}

std::uint32_t degree(const Fabric& fabric, NodeId node) {
  return static_cast<std::uint32_t>(
      std::count_if(fabric.links.begin(), fabric.links.end(),
                    [&](const FabricLink& link) { return link.from == node; }));
}

NodeId node_named(const Fabric& fabric, std::string_view name) {
  const auto at = std::find(fabric.node_names.begin(), fabric.node_names.end(), name);
  REQUIRE(at != fabric.node_names.end());
  return static_cast<NodeId>(at - fabric.node_names.begin());
}

// Names of the nodes on the way.
std::vector<std::string> way(const Fabric& fabric, std::string_view src, std::string_view dst) {
  const Routes routes(fabric);
  std::vector<std::string> names;
  for (const LinkId link :
       routes.ecmp_path(node_named(fabric, src), node_named(fabric, dst), 0, 1)) {
    names.push_back(fabric.node_names[fabric.links[link].to]);
  }
  return names;
}
using Names = std::vector<std::string>;

} // namespace

TEST_CASE("star: every host two links from every other") {
  const Fabric fabric = star(9, kHost);
  check_form(fabric);
  CHECK(fabric.hosts == 9);
  CHECK(fabric.switches == 1);
  CHECK(fabric.links.size() == 2 * 9);
  CHECK(Routes(fabric).ecmp_path(3, 5, 0, 1) == std::vector<LinkId>{2 * 3, 2 * 5 + 1});
  CHECK(fabric.link_names[2 * 3] == "h3>switch");
}

TEST_CASE("leaf-spine: ids of PKT 3.6") {
  const std::uint32_t leaves = 3;
  const std::uint32_t per_leaf = 4;
  const std::uint32_t spines = 2;
  const Fabric fabric = leaf_spine({.leaves = leaves,
                                    .hosts_per_leaf = per_leaf,
                                    .spines = spines,
                                    .host = kHost,
                                    .uplink = kUplink});
  check_form(fabric);
  CHECK(fabric.hosts == leaves * per_leaf);
  CHECK(fabric.switches == leaves + spines);
  CHECK(fabric.links.size() == 2 * (leaves * per_leaf + leaves * spines));
  const NodeId leaf = fabric.hosts;
  const NodeId spine = fabric.hosts + leaves;
  for (NodeId host = 0; host < fabric.hosts; ++host) {
    CHECK(fabric.links[2 * host].from == host);
    CHECK(fabric.links[2 * host].to == leaf + host / per_leaf);
    CHECK(fabric.links[2 * host].bandwidth_Bps == kHost.bandwidth_Bps);
  }
  for (std::uint32_t i = 0; i < leaves; ++i) {
    for (std::uint32_t j = 0; j < spines; ++j) {
      const FabricLink& up = fabric.links[2 * (fabric.hosts + i * spines + j)];
      CHECK(up.from == leaf + i);
      CHECK(up.to == spine + j);
      CHECK(up.bandwidth_Bps == kUplink.bandwidth_Bps);
      CHECK(up.latency_s == kUplink.latency_s);
    }
  }
  const Routes routes(fabric);
  CHECK(routes.distance(0, per_leaf - 1) == 2);
  CHECK(routes.distance(0, per_leaf) == 4);
  CHECK(routes.path_count(0, per_leaf - 1) == 1);
  CHECK(routes.path_count(0, per_leaf) == spines);
}

TEST_CASE("ring: as far apart as the shorter way round") {
  for (const std::uint32_t n : {1U, 2U, 3U, 4U, 5U, 8U, 13U, 16U}) {
    CAPTURE(n);
    const Fabric fabric = ring(n, kHost);
    check_form(fabric);
    CHECK(fabric.links.size() == 2 * (n > 2 ? n : n - 1));
    const Routes routes(fabric);
    for (NodeId i = 0; i < n; ++i) {
      CHECK(routes.distance(0, i) == std::min(i, n - i));
      CHECK(routes.path_count(0, i) == (n > 2 && 2 * i == n ? 2 : 1));
    }
  }
}

TEST_CASE("torus: distances add up over the dimensions") {
  for (const std::vector<std::uint32_t>& sizes :
       {std::vector<std::uint32_t>{4, 3}, {2, 2, 2}, {5, 1}, {2, 3, 4}, {1, 1}}) {
    const Fabric fabric = torus(sizes, kHost);
    check_form(fabric);
    const Routes routes(fabric);
    std::uint32_t cables = 0; // per dimension, lines of `size` hosts with size cables (1 for 2)
    for (const std::uint32_t size : sizes) {
      cables += fabric.hosts / size * (size > 2 ? size : size - 1);
    }
    CHECK(fabric.links.size() == 2 * cables);
    for (NodeId a = 0; a < fabric.hosts; ++a) {
      for (NodeId b = 0; b < fabric.hosts; ++b) {
        std::uint32_t expected = 0;
        std::uint32_t stride = 1;
        for (const std::uint32_t size : sizes) {
          const std::uint32_t apart = (a / stride % size + size - b / stride % size) % size;
          expected += std::min(apart, size - apart);
          stride *= size;
        }
        CHECK(routes.distance(a, b) == expected);
      }
    }
  }
}

TEST_CASE("fat tree: k^3/4 hosts, 5 k^2/4 switches of k ports, (k/2)^2 ways between pods") {
  for (const std::uint32_t k : {2U, 4U, 6U, 8U}) {
    CAPTURE(k);
    const Fabric fabric = fat_tree(k, kHost);
    check_form(fabric);
    CHECK(fabric.hosts == k * k * k / 4);
    CHECK(fabric.switches == 5 * k * k / 4);
    CHECK(fabric.links.size() == 2 * 3 * k * k * k / 4);
    for (NodeId node = fabric.hosts; node < fabric.nodes(); ++node) {
      CHECK(degree(fabric, node) == k);
    }
    const Routes routes(fabric);
    const std::uint32_t half = k / 2;
    const std::uint32_t pod = half * half; // hosts
    for (NodeId host = 1; host < fabric.hosts; ++host) {
      const bool same_edge = host < half;
      const bool same_pod = host < pod;
      CHECK(routes.distance(0, host) == (same_edge ? 2 : same_pod ? 4 : 6));
      CHECK(routes.path_count(0, host) == (same_edge ? 1 : same_pod ? half : pod));
    }
  }
}

TEST_CASE("dragonfly: groups fully joined inside, one cable between every two") {
  // Balanced: a = 2p = 2h, g = a h + 1; then all routers have p + (a - 1) + h ports.
  for (const std::uint32_t h : {1U, 2U}) {
    const std::uint32_t a = 2 * h;
    const std::uint32_t g = a * h + 1;
    const Fabric fabric = dragonfly(
        {.groups = g, .routers = a, .hosts = h, .host = kHost, .local = kHost, .global = kUplink});
    check_form(fabric);
    CHECK(fabric.hosts == g * a * h);
    CHECK(fabric.switches == g * a);
    CHECK(fabric.links.size() == 2 * (g * a * h + g * a * (a - 1) / 2 + g * (g - 1) / 2));
    for (NodeId node = fabric.hosts; node < fabric.nodes(); ++node) {
      CHECK(degree(fabric, node) == h + (a - 1) + h);
    }
    const Routes routes(fabric);
    for (NodeId host = 1; host < fabric.hosts; ++host) {
      CHECK(routes.distance(0, host) <= 2 + 3); // local, global, local between the routers
    }
  }
  for (const std::uint32_t groups : {1U, 2U, 5U}) { // not balanced: still one cable per pair
    const Fabric fabric = dragonfly({.groups = groups,
                                     .routers = 3,
                                     .hosts = 1,
                                     .host = kHost,
                                     .local = kHost,
                                     .global = kUplink});
    check_form(fabric);
    std::set<std::pair<NodeId, NodeId>> pairs;
    for (std::size_t i = 2 * (fabric.hosts + 3 * groups); i < fabric.links.size(); ++i) {
      pairs.emplace((fabric.links[i].from - fabric.hosts) / 3,
                    (fabric.links[i].to - fabric.hosts) / 3);
    }
    CHECK(pairs.size() == groups * (groups - 1));
    CHECK(Routes(fabric).distance(0, fabric.hosts - 1) > 0);
  }
}

TEST_CASE("machines of GPUs: NVLink inside, GPU l over NIC l mod nics outside") {
  const Fabric fabric = gpu_machines({.machines = 2,
                                      .gpus = 4,
                                      .nics = 2,
                                      .nvlink = kUplink,
                                      .pcie = kHost,
                                      .network = kHost,
                                      .uplink = {}});
  check_form(fabric);
  CHECK(fabric.hosts == 8);
  CHECK(fabric.gpus_per_machine == 4);
  CHECK(fabric.switches == 2 * (1 + 4 + 2) + 1);
  CHECK(fabric.links.size() == 2 * (3 * 8 + 4));
  CHECK(way(fabric, "node0gpu1", "node0gpu3") == Names{"node0nvswitch", "node0gpu3"});
  CHECK(way(fabric, "node0gpu3", "node1gpu2") ==
        Names{"node0pcie3", "node0nic1", "switch", "node1nic0", "node1pcie2", "node1gpu2"});
  const Routes routes(fabric);
  for (NodeId src = 0; src < 8; ++src) {
    for (NodeId dst = 0; dst < 8; ++dst) {
      CHECK(routes.path_count(src, dst) == 1);
    }
  }
  const Fabric one = gpu_machines({.machines = 1,
                                   .gpus = 8,
                                   .nics = 0,
                                   .nvlink = kUplink,
                                   .pcie = {},
                                   .network = {},
                                   .uplink = {}});
  check_form(one);
  CHECK(one.switches == 1);
  CHECK(one.links.size() == 2 * 8);
}

TEST_CASE("rails: NIC i of every machine on switch i; other rails over spines or NVLink") {
  GpuMachines shape{.machines = 3,
                    .gpus = 4,
                    .nics = 4,
                    .nvlink = kUplink,
                    .pcie = kHost,
                    .network = kHost,
                    .rails = true,
                    .spines = 2,
                    .uplink = kUplink};
  const Fabric spines = gpu_machines(shape);
  check_form(spines);
  CHECK(spines.switches == 3 * (1 + 4 + 4) + 4 + 2);
  CHECK(way(spines, "node0gpu2", "node2gpu2") ==
        Names{"node0pcie2", "node0nic2", "rail2", "node2nic2", "node2pcie2", "node2gpu2"});
  const auto across = way(spines, "node0gpu0", "node1gpu3");
  REQUIRE(across.size() == 8);
  CHECK(across[3].starts_with("spine"));
  CHECK(across[4] == "rail3");

  shape.spines = 0; // rails only: through a GPU of the first or of the last machine
  const Fabric rails = gpu_machines(shape);
  check_form(rails);
  CHECK(rails.switches == 3 * (1 + 4 + 4) + 4);
  const Routes routes(rails);
  CHECK(routes.path_count(0, 4 + 3) == 2);
  CHECK(routes.distance(0, 4 + 3) == 8);
  CHECK(routes.distance(0, 4) == 6);
}

} // namespace stepsim::links
