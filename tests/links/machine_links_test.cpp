#include "links/fabric/placement.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "links/fabric/topology.hpp"

namespace stepsim::links {
namespace {

constexpr LinkSpeed kNetwork{1e-6, 1e9};
constexpr LinkSpeed kInside{1e-6, 1e11};

std::vector<std::uint32_t> own_machines(const Fabric& fabric) {
  std::vector<std::uint32_t> machines;
  for (NodeId host = 0; host < fabric.hosts; ++host) {
    machines.push_back(host);
  }
  return machines;
}

std::ptrdiff_t count_of(const MachineLinks& links, LinkPlace place) {
  return std::ranges::count(links.places, place);
}

} // namespace

TEST_CASE("machine links: hosts that are machines have links into them alone") {
  const Fabric fabric = leaf_spine({2, 2, 2, kNetwork, kNetwork});
  const MachineLinks links = machine_links(fabric, own_machines(fabric));
  CHECK(count_of(links, LinkPlace::border) == 2 * 4);  // both directions of each host
  CHECK(count_of(links, LinkPlace::outside) == 2 * 4); // two leaves, two spines
  CHECK(count_of(links, LinkPlace::inside) == 0);
  CHECK(links.out_Bps == 1e9);
}

TEST_CASE("machine links: GPUs, their switches and their interfaces are inside a machine") {
  for (const bool rails : {false, true}) {
    const Fabric fabric =
        gpu_machines({3, 4, 2, kInside, kInside, kNetwork, rails, rails ? 1U : 0U, kNetwork});
    std::vector<std::uint32_t> machines;
    for (NodeId host = 0; host < fabric.hosts; ++host) {
      machines.push_back(host / 4);
    }
    const MachineLinks links = machine_links(fabric, machines);
    for (LinkId link = 0; link < fabric.links.size(); ++link) {
      const bool of_network = fabric.links[link].bandwidth_Bps == 1e9;
      CHECK((links.places[link] == LinkPlace::inside) == !of_network);
    }
    CHECK(count_of(links, LinkPlace::border) == 2 * 3 * 2); // three machines with two interfaces
    CHECK(links.out_Bps == 2 * 1e9);
  }
}

TEST_CASE("machine links: GPUs of one leaf are a machine behind it, those of a star are not") {
  const std::vector<std::uint32_t> machines{0, 0, 1, 1};
  const MachineLinks behind = machine_links(leaf_spine({2, 2, 1, kInside, kNetwork}), machines);
  CHECK(count_of(behind, LinkPlace::inside) == 2 * 4);
  CHECK(count_of(behind, LinkPlace::border) == 2 * 2);
  const MachineLinks beside = machine_links(star(4, kNetwork), machines);
  CHECK(count_of(beside, LinkPlace::border) == 2 * 4);
  CHECK(beside.out_Bps == 2 * 1e9);
}

} // namespace stepsim::links
