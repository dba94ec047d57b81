#include "links/fabric/fabric.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "links/fabric/routes.hpp"
#include "links/fabric/topology.hpp"

namespace stepsim::links {
namespace {

constexpr LinkSpeed kLink{1e-6, 1.25e9};

std::string text(const Fabric& fabric) {
  std::string out;
  for (const FabricProblem& problem : fabric_problems(fabric)) {
    out += problem.node   ? "node " + std::to_string(*problem.node) + ": "
           : problem.link ? "link " + std::to_string(*problem.link) + ": "
                          : "";
    out += problem.message + "\n";
  }
  return out;
}

} // namespace

TEST_CASE("fabric check: presets have no problems") {
  CHECK(text(star(1, kLink)) == "");
  CHECK(text(star(5, kLink)) == "");
  CHECK(text(leaf_spine({2, 4, 4, kLink, kLink})) == "");
  CHECK(text(leaf_spine({1, 1, 1, kLink, kLink})) == "");
  CHECK(text(ring(1, kLink)) == "");
  CHECK(text(ring(7, kLink)) == "");
  CHECK(text(torus({2, 3, 4}, kLink)) == "");
  CHECK(text(fat_tree(4, kLink)) == "");
  CHECK(text(dragonfly({5, 2, 2, kLink, kLink, kLink})) == "");
  CHECK(text(gpu_machines({3, 4, 2, kLink, kLink, kLink, false, 0, {}})) == "");
  CHECK(text(gpu_machines({3, 4, 4, kLink, kLink, kLink, true, 0, {}})) == "");
  CHECK(text(gpu_machines({3, 4, 4, kLink, kLink, kLink, true, 2, kLink})) == "");
}

TEST_CASE("fabric check: each kind of mistake is named") {
  const Fabric good = star(3, kLink); // links 2h, 2h + 1 of host h
  CHECK(text(Fabric{}) == "needs at least one host\n");

  Fabric fabric = good;
  fabric.links[2].bandwidth_Bps = 0;
  fabric.links[3].latency_s = -1;
  fabric.links[4].bandwidth_Bps = std::numeric_limits<double>::quiet_NaN();
  fabric.links[5].latency_s = std::numeric_limits<double>::infinity();
  CHECK(text(fabric) == "link 2: bandwidth_Bps must be >= 1, got 0\n"
                        "link 3: latency_s must be >= 0, got -1\n"
                        "link 4: bandwidth_Bps must be >= 1, got no number\n"
                        "link 5: latency_s must be >= 0, got no number\n");

  fabric = good;
  fabric.node_names[2] = "h0";
  fabric.link_names[4] = "h1>switch";
  CHECK(text(fabric) == "node 2: \"h0\" appears twice\n"
                        "link 4: \"h1>switch\" appears twice\n");

  fabric = good;
  fabric.links[2].to = 1;
  CHECK(text(fabric) == "link 2: a link must join two different nodes, got \"h1\" twice\n"
                        "link 3: links 2c and 2c + 1 must be the two directions of a cable\n");
  fabric.links[2].to = 17;
  CHECK(text(fabric) == "link 2: unknown node 17\n"
                        "link 3: links 2c and 2c + 1 must be the two directions of a cable\n");

  fabric = good;
  fabric.links.resize(4);
  fabric.link_names.resize(4);
  CHECK(text(fabric) == "node 2: no route from \"h0\" to \"h2\"\n");
  fabric.links.resize(3);
  CHECK(text(fabric) == "link 2: links 2c and 2c + 1 must be the two directions of a cable\n");
}

TEST_CASE("fabric check: hosts that could only meet through other hosts") {
  Fabric fabric = ring(5, kLink);
  fabric.hosts_forward = false;
  CHECK(text(fabric) == "no route from \"h0\" to \"h2\" but through other hosts\n");
  Fabric rails = gpu_machines({2, 2, 2, kLink, kLink, kLink, true, 0, {}});
  CHECK_FALSE(switches_join_hosts(rails));
  rails.hosts_forward = false;
  CHECK(text(rails) == "no route from \"node0gpu0\" to \"node1gpu1\" but through other hosts\n");
  Fabric triangle = ring(3, kLink); // every two joined by a cable: nobody needs to forward
  triangle.hosts_forward = false;
  CHECK(text(triangle) == "");
  CHECK(Routes(triangle).distance(0, 2) == 1);
}

TEST_CASE("fabric check: whether switches alone join the hosts") {
  CHECK(switches_join_hosts(star(4, kLink)));
  CHECK(switches_join_hosts(fat_tree(4, kLink)));
  CHECK(switches_join_hosts(gpu_machines({2, 4, 4, kLink, kLink, kLink, true, 1, kLink})));
  CHECK_FALSE(switches_join_hosts(ring(4, kLink)));
}

} // namespace stepsim::links
