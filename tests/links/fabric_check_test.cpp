#include "links/fabric/fabric.hpp"

#include <doctest/doctest.h>

#include "links/fabric/routes.hpp"
#include "links/fabric/topology.hpp"

namespace stepsim::links {
namespace {

constexpr LinkSpeed kLink{1e-6, 1.25e9};

} // namespace

TEST_CASE("fabric check: presets have no problems") {
  CHECK(fabric_problem(star(1, kLink)) == "");
  CHECK(fabric_problem(star(5, kLink)) == "");
  CHECK(fabric_problem(leaf_spine({2, 4, 4, kLink, kLink})) == "");
  CHECK(fabric_problem(leaf_spine({1, 1, 1, kLink, kLink})) == "");
  CHECK(fabric_problem(ring(1, kLink)) == "");
  CHECK(fabric_problem(ring(7, kLink)) == "");
  CHECK(fabric_problem(torus({2, 3, 4}, kLink)) == "");
  CHECK(fabric_problem(fat_tree(4, kLink)) == "");
  CHECK(fabric_problem(dragonfly({5, 2, 2, kLink, kLink, kLink})) == "");
  CHECK(fabric_problem(gpu_machines({3, 4, 2, kLink, kLink, kLink, false, 0, {}})) == "");
  CHECK(fabric_problem(gpu_machines({3, 4, 4, kLink, kLink, kLink, true, 0, {}})) == "");
  CHECK(fabric_problem(gpu_machines({3, 4, 4, kLink, kLink, kLink, true, 2, kLink})) == "");
}

TEST_CASE("fabric check: no host, and a host without a path") {
  CHECK(fabric_problem(Fabric{}) == "needs at least one host");
  Fabric fabric = star(3, kLink); // links 2h, 2h + 1 of host h
  fabric.links.resize(4);
  fabric.link_names.resize(4);
  CHECK(fabric_problem(fabric) == "no route from \"h0\" to \"h2\"");
}

TEST_CASE("fabric check: hosts that could only meet through other hosts") {
  Fabric fabric = ring(5, kLink);
  fabric.hosts_forward = false;
  CHECK(fabric_problem(fabric) == "no route from \"h0\" to \"h2\" but through other hosts");
  Fabric rails = gpu_machines({2, 2, 2, kLink, kLink, kLink, true, 0, {}});
  CHECK_FALSE(switches_join_hosts(rails));
  rails.hosts_forward = false;
  CHECK(fabric_problem(rails) ==
        "no route from \"node0gpu0\" to \"node1gpu1\" but through other hosts");
  Fabric triangle = ring(3, kLink); // every two joined by a cable: nobody needs to forward
  triangle.hosts_forward = false;
  CHECK(fabric_problem(triangle) == "");
  CHECK(Routes(triangle).distance(0, 2) == 1);
}

TEST_CASE("fabric check: whether switches alone join the hosts") {
  CHECK(switches_join_hosts(star(4, kLink)));
  CHECK(switches_join_hosts(fat_tree(4, kLink)));
  CHECK(switches_join_hosts(gpu_machines({2, 4, 4, kLink, kLink, kLink, true, 1, kLink})));
  CHECK_FALSE(switches_join_hosts(ring(4, kLink)));
}

} // namespace stepsim::links
