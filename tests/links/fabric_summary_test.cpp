#include "links/fabric/fabric.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "base/random.hpp"
#include "links/fabric/routes.hpp"
#include "links/fabric/topology.hpp"

namespace stepsim::links {
namespace {

constexpr double kRate = 1.25e9;
constexpr LinkSpeed kLink{1e-6, kRate};

// The smallest cut over all ways to put the switches on one of the two sides.
double brute_force_cut(const Fabric& fabric) {
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t choice = 0; choice < 1U << fabric.switches; ++choice) {
    const auto first = [&](NodeId node) {
      return fabric.is_host(node) ? node < fabric.hosts / 2
                                  : ((choice >> (node - fabric.hosts)) & 1U) != 0;
    };
    double cut = 0;
    for (const FabricLink& link : fabric.links) {
      cut += first(link.from) && !first(link.to) ? link.bandwidth_Bps : 0;
    }
    least = std::min(least, cut);
  }
  return least;
}

} // namespace

TEST_CASE("fabric summary: a star is bounded by its hosts") {
  const FabricSummary summary = summary_of(star(9, kLink));
  CHECK(summary.hosts == 9);
  CHECK(summary.switches == 1);
  CHECK(summary.cables == 9);
  CHECK(summary.bisection_Bps == 4 * kRate);
  CHECK(summary.half_Bps == 4 * kRate);
  CHECK_FALSE(summary.oversubscription.has_value());
  CHECK(summary.diameter == 2);
  CHECK(summary.paths == 1);
  CHECK(summary_of(star(1, kLink)).bisection_Bps == 0);
  CHECK(summary_of(star(1, kLink)).diameter == 0);
}

TEST_CASE("fabric summary: a leaf-spine has hosts / (spines x uplink)") {
  const FabricSummary summary = summary_of(leaf_spine({4, 8, 2, kLink, {1e-6, 2 * kRate}}));
  CHECK(*summary.oversubscription == 8 / (2 * 2.0));
  CHECK(summary.bisection_Bps == 2 * (2 * 2 * kRate)); // uplinks of two leaves
  CHECK(summary.half_Bps / summary.bisection_Bps == *summary.oversubscription);
  CHECK(summary.diameter == 4);
  CHECK(summary.paths == 2);
  CHECK(summary.far_a == 0);
  CHECK(summary.far_b == 8);
}

TEST_CASE("fabric summary: fat trees have full bisection and (k/2)^2 paths") {
  for (const std::uint32_t k : {2U, 4U, 8U}) {
    const FabricSummary summary = summary_of(fat_tree(k, kLink));
    CHECK(summary.bisection_Bps == k * k * k / 8 * kRate);
    CHECK(*summary.oversubscription == 1);
    CHECK(summary.diameter == 6);
    CHECK(summary.paths == k * k / 4);
  }
}

TEST_CASE("fabric summary: rings are cut at two places, tori at two sections") {
  CHECK(summary_of(ring(8, kLink)).bisection_Bps == 2 * kRate);
  CHECK(summary_of(ring(8, kLink)).diameter == 4);
  CHECK(summary_of(ring(8, kLink)).paths == 2);
  CHECK(summary_of(torus({4, 4}, kLink)).bisection_Bps == 2 * 4 * kRate);
  CHECK(summary_of(torus({4, 4}, kLink)).diameter == 2 + 2);
  // two hops each way, both ways round: 4!/(2! 2!) orders x 2 x 2 directions
  CHECK(summary_of(torus({4, 4}, kLink)).paths == 6 * 2 * 2);
}

TEST_CASE("fabric summary: the bisection is the smallest of all cuts") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    std::uint64_t counter = 0;
    const auto below = [&](std::uint64_t m) {
      return static_cast<std::uint32_t>(base::pick(base::hash(seed, ++counter), m));
    };
    Fabric fabric;
    fabric.hosts = 2 + below(5);
    fabric.switches = 1 + below(6);
    const auto cable = [&](NodeId a, NodeId b) {
      const double rate = 1 + below(9);
      fabric.links.push_back({a, b, 0, rate});
      fabric.links.push_back({b, a, 0, rate});
    };
    for (NodeId node = 0; node < fabric.nodes(); ++node) {
      cable(node, fabric.is_host(node) || node == fabric.hosts
                      ? fabric.hosts + below(fabric.switches)
                      : fabric.hosts + below(node - fabric.hosts));
    }
    for (std::uint32_t i = below(6); i > 0; --i) {
      cable(below(fabric.nodes()), fabric.hosts + below(fabric.switches));
    }
    CHECK(summary_of(fabric).bisection_Bps == brute_force_cut(fabric));
  }
}

TEST_CASE("fabric summary: rates of any size") {
  const LinkSpeed fast{0, 0x1p60};
  CHECK(summary_of(star(8, fast)).bisection_Bps == 4 * 0x1p60);
  CHECK(summary_of(ring(8, fast)).bisection_Bps == 2 * 0x1p60);
}

TEST_CASE("fabric summary: one host per switch is enough to find the farthest") {
  for (const Fabric& fabric :
       {dragonfly({4, 3, 3, kLink, kLink, kLink}), leaf_spine({3, 3, 2, kLink, kLink}),
        gpu_machines({2, 3, 2, kLink, kLink, kLink, false, 0, {}})}) {
    const Routes routes(fabric);
    std::uint32_t diameter = 0;
    for (NodeId a = 0; a < fabric.hosts; ++a) {
      for (NodeId b = 0; b < fabric.hosts; ++b) {
        diameter = std::max(diameter, routes.distance(a, b));
      }
    }
    CHECK(summary_of(fabric).diameter == diameter);
  }
}

TEST_CASE("fabric summary: levels count links to the nearest host") {
  CHECK(levels(leaf_spine({2, 2, 1, kLink, kLink})) ==
        std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 2});
  CHECK(levels(ring(3, kLink)) == std::vector<std::uint32_t>{0, 0, 0});
  const Fabric rails = gpu_machines({1, 2, 2, kLink, kLink, kLink, true, 1, kLink});
  // 2 GPUs, NVLink switch, 2 PCIe switches, 2 NICs, 2 rails, spine
  CHECK(levels(rails) == std::vector<std::uint32_t>{0, 0, 1, 1, 1, 2, 2, 3, 3, 4});
}

} // namespace stepsim::links
