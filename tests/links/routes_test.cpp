#include "links/fabric/routes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/random.hpp"
#include "links/fabric/topology.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::links {
namespace {

using stepsim::testing::within;

constexpr LinkSpeed kLink{1e-6, 1.25e9};

void cable(Fabric& fabric, NodeId a, NodeId b) {
  fabric.links.push_back({a, b, kLink.latency_s, kLink.bandwidth_Bps});
  fabric.links.push_back({b, a, kLink.latency_s, kLink.bandwidth_Bps});
}

Fabric empty_fabric(std::uint32_t hosts, std::uint32_t switches) {
  Fabric fabric;
  fabric.hosts = hosts;
  fabric.switches = switches;
  return fabric;
}

// Connected, with a few cables too many, some of them parallel; hosts with one or more cables.
Fabric random_fabric(std::uint64_t seed) {
  Fabric fabric;
  std::uint64_t counter = 0;
  const auto below = [&](std::uint64_t m) {
    return static_cast<std::uint32_t>(base::pick(base::hash(seed, ++counter), m));
  };
  fabric.hosts = 2 + below(7);
  fabric.switches = 1 + below(6);
  fabric.hosts_forward = below(3) == 0;
  for (NodeId at = fabric.hosts + 1; at < fabric.nodes(); ++at) {
    cable(fabric, at, fabric.hosts + below(at - fabric.hosts));
  }
  for (NodeId host = 0; host < fabric.hosts; ++host) {
    if (fabric.hosts_forward && host > 0 && below(2) == 0) {
      cable(fabric, host, below(host));
    } else {
      cable(fabric, host, fabric.hosts + below(fabric.switches));
    }
  }
  for (std::uint32_t i = below(8); i > 0; --i) {
    const NodeId a = below(fabric.nodes());
    const NodeId b = below(fabric.nodes());
    if (a != b) {
      cable(fabric, a, b);
    }
  }
  return fabric;
}

bool passes(const Fabric& fabric, NodeId node) {
  return fabric.hosts_forward || !fabric.is_host(node);
}

// Floyd and Warshall, by way of nodes that pass traffic on only.
std::vector<std::vector<double>> all_distances(const Fabric& fabric) {
  const std::size_t n = fabric.nodes();
  std::vector<std::vector<double>> d(n, std::vector<double>(n, INFINITY));
  for (std::size_t i = 0; i < n; ++i) {
    d[i][i] = 0;
  }
  for (const FabricLink& link : fabric.links) {
    d[link.from][link.to] = 1;
  }
  for (NodeId by = 0; by < n; ++by) {
    for (std::size_t i = 0; passes(fabric, by) && i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        d[i][j] = std::min(d[i][j], d[i][by] + d[by][j]);
      }
    }
  }
  return d;
}

double count_paths(const Fabric& fabric, const Routes& routes, NodeId at, NodeId dst) {
  double sum = at == dst ? 1 : 0;
  for (const LinkId link : routes.next_links(at, dst)) {
    sum += count_paths(fabric, routes, fabric.links[link].to, dst);
  }
  return sum;
}

// A path of links from src to dst, each beginning where the last ended.
bool leads(const Fabric& fabric, const std::vector<LinkId>& path, NodeId src, NodeId dst) {
  NodeId at = src;
  for (const LinkId link : path) {
    if (fabric.links[link].from != at) {
      return false;
    }
    at = fabric.links[link].to;
  }
  return at == dst;
}

// Hosts of two leaves, `links` uplinks each.
Fabric two_leaves(std::uint32_t hosts, std::uint32_t links) {
  return leaf_spine(
      {.leaves = 2, .hosts_per_leaf = hosts, .spines = links, .host = kLink, .uplink = kLink});
}

// Flows i -> hosts + i on their uplinks of leaf 0: flows on each, for one seed.
std::vector<int> uplink_loads(const Fabric& fabric, const Routes& routes, std::uint32_t flows,
                              std::uint32_t uplinks, std::uint64_t seed) {
  std::vector<int> load(uplinks, 0);
  const std::uint32_t hosts = fabric.hosts / 2;
  for (std::uint32_t flow = 0; flow < flows; ++flow) {
    const auto path = routes.ecmp_path(flow, hosts + flow, flow, seed);
    ++load[(path[1] - 2 * fabric.hosts) / 2];
  }
  return load;
}

} // namespace

TEST_CASE("routes: distances and equal-cost next hops are those of Floyd and Warshall") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const Fabric fabric = random_fabric(seed);
    const Routes routes(fabric);
    const auto d = all_distances(fabric);
    for (NodeId dst = 0; dst < fabric.hosts; ++dst) {
      for (NodeId node = 0; node < fabric.nodes(); ++node) {
        CAPTURE(node);
        CAPTURE(dst);
        REQUIRE(routes.distance(node, dst) == d[node][dst]);
        std::vector<std::pair<NodeId, LinkId>> expected;
        for (LinkId id = 0; id < fabric.links.size(); ++id) {
          const FabricLink& link = fabric.links[id];
          if (link.from == node && d[node][dst] == 1 + d[link.to][dst] &&
              (link.to == dst || passes(fabric, link.to))) {
            expected.emplace_back(link.to, id);
          }
        }
        std::sort(expected.begin(), expected.end());
        const auto next = routes.next_links(node, dst);
        REQUIRE(next.size() == expected.size());
        for (std::size_t i = 0; i < next.size(); ++i) {
          CHECK(next[i] == expected[i].second);
        }
      }
    }
  }
}

TEST_CASE("routes: every path is a shortest one, and the paths are counted") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const Fabric fabric = random_fabric(seed);
    const Routes routes(fabric);
    for (NodeId src = 0; src < fabric.hosts; ++src) {
      for (NodeId dst = 0; dst < fabric.hosts; ++dst) {
        for (std::uint64_t connection = 0; connection < 4; ++connection) {
          const auto path = routes.ecmp_path(src, dst, connection, seed);
          CHECK(path.size() == routes.distance(src, dst));
          CHECK(leads(fabric, path, src, dst));
        }
        CHECK(routes.path_count(src, dst) == count_paths(fabric, routes, src, dst));
      }
    }
  }
}

TEST_CASE("routes: a host with one cable and one with two reach each other") {
  Fabric fabric = empty_fabric(2, 2);
  cable(fabric, 0, 2); // links 0, 1
  cable(fabric, 1, 2); // 2, 3
  cable(fabric, 1, 3); // 4, 5
  cable(fabric, 2, 3); // 6, 7
  const Routes routes(fabric);
  CHECK(routes.ecmp_path(0, 1, 0, 1) == std::vector<LinkId>{0, 3});
  CHECK(routes.ecmp_path(1, 0, 0, 1) == std::vector<LinkId>{2, 1});
  CHECK(routes.ecmp_path(1, 1, 0, 1).empty());
  CHECK(routes.distance(3, 0) == 2);
}

TEST_CASE("routes: hosts pass nothing on unless the fabric says so") {
  Fabric line = empty_fabric(3, 0);
  line.node_names = {"a", "b", "c"};
  cable(line, 0, 1);
  cable(line, 1, 2);
  CHECK_THROWS_WITH_AS(Routes{line}, "no route from c to a", SimulationError);
  line.hosts_forward = true;
  CHECK(Routes(line).ecmp_path(0, 2, 0, 1) == std::vector<LinkId>{0, 2});
}

TEST_CASE("routes: tables that would not fit into memory are refused") {
  // (2^14)^2 > 2^26, with hosts that are destination and node at once
  CHECK_THROWS_WITH_AS(Routes{ring(1 << 14, kLink)},
                       "the fabric is too large for routing tables: 16384 destinations x 16384 "
                       "nodes, at most 2^26 = 67108864",
                       SimulationError);
  CHECK(Routes(star(1 << 17, kLink)).distance(0, (1 << 17) - 1) == 2);
}

// PKT 3.6: connections i = 0..15 with src i, dst 4 + i, seed 1, node 0, m = 4.
TEST_CASE("routes: the next hop is the published hash of the connection") {
  const int expected[] = {0, 3, 3, 0, 3, 2, 3, 1, 0, 0, 2, 1, 3, 0, 2, 0};
  for (std::uint64_t i = 0; i < 16; ++i) {
    CHECK(base::pick(base::hash(1, 1, 0, i, 4 + i, i), 4) ==
          static_cast<std::uint64_t>(expected[i]));
  }
  // Host 0 with four cables: connections i, src 0, dst 1, seed 1, at node 0.
  Fabric planes = empty_fabric(2, 4);
  for (NodeId host = 0; host < 2; ++host) {
    for (NodeId plane = 2; plane < 6; ++plane) {
      cable(planes, host, plane);
    }
  }
  const Routes routes(planes);
  std::set<LinkId> used;
  for (std::uint64_t i = 0; i < 64; ++i) {
    const auto path = routes.ecmp_path(0, 1, i, 1);
    CHECK(path[0] == 2 * base::pick(base::hash(1, 1, 0, 0, 1, i), 4));
    used.insert(path[0]);
  }
  CHECK(used.size() == 4);
}

TEST_CASE("routes: the hash of a switch takes its own id, so levels choose independently") {
  const Fabric fabric = fat_tree(4, kLink);
  const Routes routes(fabric);
  const NodeId edge = fabric.hosts;
  std::set<std::vector<LinkId>> paths;
  for (std::uint64_t i = 0; i < 64; ++i) {
    const auto path = routes.ecmp_path(0, fabric.hosts - 1, i, 1);
    const auto next = routes.next_links(edge, fabric.hosts - 1);
    CHECK(path[1] == next[base::pick(base::hash(1, 1, edge, 0, fabric.hosts - 1, i), 2)]);
    paths.insert(path);
  }
  CHECK(paths.size() == 2 * 2); // (k/2)^2 paths between pods
}

// PKT V29: P(no collision) of f flows on m uplinks = m! / ((m - f)! m^f). PKT V30: the busiest
// uplink.
TEST_CASE("routes: ECMP collides as often as chance says") {
  struct Row {
    std::uint32_t flows, uplinks;
    double no_collision, busiest; // 0 = not given
  };
  constexpr std::uint64_t kSeeds = 20000;
  for (const Row& row : {Row{2, 2, 0.5, 1.5}, Row{4, 4, 0.09375, 2.125}, Row{3, 4, 0.375, 0},
                         Row{8, 8, 0.002403, 0}, Row{11, 20, 0.032736, 0}, Row{4, 2, 0, 2.75}}) {
    CAPTURE(row.flows);
    CAPTURE(row.uplinks);
    const Fabric fabric = two_leaves(row.flows, row.uplinks);
    const Routes routes(fabric);
    double free = 0;
    double sum = 0;
    double squares = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const auto load = uplink_loads(fabric, routes, row.flows, row.uplinks, seed);
      const double busiest = *std::max_element(load.begin(), load.end());
      free += busiest == 1 ? 1 : 0;
      sum += busiest;
      squares += busiest * busiest;
    }
    double formula = 1;
    for (std::uint32_t i = 0; i < row.flows; ++i) {
      formula *= static_cast<double>(row.uplinks - std::min(i, row.uplinks)) / row.uplinks;
    }
    CHECK(formula == within(row.no_collision, 1e-3));
    const double n = static_cast<double>(kSeeds);
    CHECK(std::abs(free / n - formula) <= 3 * std::sqrt(formula * (1 - formula) / n));
    if (row.busiest > 0) {
      const double mean = sum / n;
      CHECK(std::abs(mean - row.busiest) <= 3 * std::sqrt((squares / n - mean * mean) / n));
    }
  }
}

// PKT V31: 11 flows of 10G on 2 x 100G are at full rate unless all 11 share one: 1 - 2 / 2^11.
TEST_CASE("routes: eleven slow flows on two fast uplinks nearly always get their rate") {
  constexpr std::uint64_t kSeeds = 50000;
  const Fabric fabric = two_leaves(11, 2);
  const Routes routes(fabric);
  double full = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto load = uplink_loads(fabric, routes, 11, 2, seed);
    full += *std::max_element(load.begin(), load.end()) <= 10 ? 1 : 0;
  }
  const double p = 1 - 2 / std::pow(2, 11);
  CHECK(p == within(0.99902, 1e-5));
  CHECK(std::abs(full / kSeeds - p) <= 3 * std::sqrt(p * (1 - p) / kSeeds));
}

TEST_CASE("routes: chi-square of the hops of 2^16 connections") {
  for (const std::uint32_t m : {2U, 3U, 7U, 16U}) {
    CAPTURE(m);
    const Fabric fabric = two_leaves(1, m);
    const Routes routes(fabric);
    std::vector<double> count(m, 0);
    constexpr std::uint64_t kConnections = 1 << 16;
    for (std::uint64_t i = 0; i < kConnections; ++i) {
      count[(routes.ecmp_path(0, 1, i, 1)[1] - 4) / 2] += 1;
    }
    double chi_square = 0;
    const double mean = static_cast<double>(kConnections) / m;
    for (const double each : count) {
      chi_square += (each - mean) * (each - mean) / mean;
    }
    // mean m - 1, variance 2 (m - 1); four deviations
    CHECK(chi_square <= m - 1 + 4 * std::sqrt(2.0 * (m - 1)));
  }
}

TEST_CASE("routes: the same fabric gives the same paths, another seed others") {
  const Fabric fabric = fat_tree(8, kLink);
  const Routes first(fabric);
  const Routes second(fabric);
  int changed = 0;
  for (NodeId src = 0; src < fabric.hosts; ++src) {
    const NodeId dst = (src + fabric.hosts / 2) % fabric.hosts;
    CHECK(first.ecmp_path(src, dst, src, 1) == second.ecmp_path(src, dst, src, 1));
    changed += first.ecmp_path(src, dst, src, 1) != first.ecmp_path(src, dst, src, 2) ? 1 : 0;
  }
  CHECK(changed > 0);
}

} // namespace stepsim::links
