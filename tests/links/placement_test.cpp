#include "links/fabric/placement.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "links/fabric/topology.hpp"

namespace stepsim::links {
namespace {

constexpr LinkSpeed kLink{1e-6, 1.25e9};
using Hosts = std::vector<NodeId>;

Fabric two_leaves() { return leaf_spine({2, 4, 2, kLink, kLink}); }
Fabric machines(std::uint32_t count) { // of 4 GPUs
  return gpu_machines({count, 4, 2, kLink, kLink, kLink, false, 0, {}});
}

} // namespace

TEST_CASE("placement: packed fills a leaf first, spread goes round the leaves") {
  const Fabric fabric = two_leaves();
  CHECK(place_ranks(fabric, 4, 1, PlacementRule::packed) == Hosts{0, 1, 2, 3});
  CHECK(place_ranks(fabric, 4, 1, PlacementRule::spread) == Hosts{0, 4, 1, 5});
  CHECK(place_ranks(fabric, 3, 2, PlacementRule::packed) == Hosts{0, 0, 1, 1, 2, 2});
  CHECK(place_ranks(fabric, 3, 2, PlacementRule::spread) == Hosts{0, 0, 4, 4, 1, 1});
}

TEST_CASE("placement: all hosts are used once, whatever the rule") {
  for (const Fabric& fabric : {two_leaves(), star(8, kLink), ring(8, kLink), fat_tree(4, kLink)}) {
    for (const auto rule : {PlacementRule::packed, PlacementRule::spread}) {
      const auto hosts = place_ranks(fabric, fabric.hosts, 1, rule);
      CHECK(std::set(hosts.begin(), hosts.end()).size() == fabric.hosts);
    }
  }
}

TEST_CASE("placement: with fat trees spread puts as many nodes under each edge switch") {
  const Fabric fabric = fat_tree(4, kLink); // 8 edge switches of 2 hosts
  const auto hosts = place_ranks(fabric, 8, 1, PlacementRule::spread);
  std::set<NodeId> edges;
  for (const NodeId host : hosts) {
    edges.insert(host / 2);
  }
  CHECK(edges.size() == 8);
}

TEST_CASE("placement: where hosts are GPUs every rank has its own, nodes stay in a machine") {
  CHECK(place_ranks(machines(3), 2, 4, PlacementRule::packed) == Hosts{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(place_ranks(machines(3), 3, 2, PlacementRule::packed) == Hosts{0, 1, 4, 5, 8, 9});
  CHECK(place_ranks(machines(3), 3, 2, PlacementRule::spread) == Hosts{0, 1, 4, 5, 8, 9});
  Fabric listed = star(6, kLink); // GPUs in an order of a file, machines of unknown size
  listed.rank_hosts = {5, 4, 3, 2, 1, 0};
  CHECK(place_ranks(listed, 2, 3, PlacementRule::packed) == Hosts{5, 4, 3, 2, 1, 0});
}

TEST_CASE("placement: lists name hosts per node or per rank") {
  CHECK(place_ranks(two_leaves(), 2, 2, Hosts{3, 7}) == Hosts{3, 3, 7, 7});
  CHECK(place_ranks(two_leaves(), 2, 2, Hosts{3, 7, 7, 3}) == Hosts{3, 7, 7, 3});
  CHECK(place_ranks(machines(2), 2, 2, Hosts{0, 2, 5, 7}) == Hosts{0, 2, 5, 7});
}

TEST_CASE("placement: what does not fit is said with its numbers") {
  const auto problem = [](const Fabric& fabric, std::uint32_t nodes, std::uint32_t gpus,
                          const Placement& placement) {
    return placement_problem(fabric, nodes, gpus, placement);
  };
  constexpr auto kPacked = PlacementRule::packed;
  CHECK(problem(two_leaves(), 8, 16, kPacked) == "");
  CHECK(problem(two_leaves(), 9, 1, kPacked) == "9 nodes, but the topology has 8");
  CHECK(problem(machines(2), 3, 1, kPacked) == "3 nodes of 4 GPUs, but the topology has 2");
  CHECK(problem(machines(2), 1, 5, PlacementRule::spread) ==
        "5 GPUs per node, but machines of the topology have 4");
  CHECK(problem(two_leaves(), 2, 2, Hosts{0, 1, 2}) ==
        "must name 2 hosts (one per node) or 4 (one per rank), got 3");
  CHECK(problem(two_leaves(), 2, 1, Hosts{0}) == "must name 2 hosts, one per rank, got 1");
  CHECK(problem(machines(2), 2, 2, Hosts{0, 4}) == "must name 4 hosts, one per rank, got 2");
  CHECK(problem(two_leaves(), 2, 1, Hosts{0, 8}) == "no host 8, the topology has 8");
  CHECK(problem(two_leaves(), 2, 1, Hosts{1, 1}) == "more than 1 rank on host \"h1\"");
  CHECK(problem(two_leaves(), 2, 2, Hosts{1, 1}) == "more than 2 ranks on host \"h1\"");
}

} // namespace stepsim::links
