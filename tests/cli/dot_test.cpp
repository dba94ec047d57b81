#include "cli/text/topology_text.hpp"

#include <doctest/doctest.h>

#include "links/fabric/topology.hpp"

namespace stepsim::cli {
namespace {

constexpr links::LinkSpeed kHost{1e-6, 1.25e9}; // 10 Gbit/s
constexpr links::LinkSpeed kUplink{5e-7, 1.25e10};

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

} // namespace

TEST_CASE("dot: a leaf-spine, row by row, one edge per cable") {
  CHECK(dot_text(links::leaf_spine({2, 1, 1, kHost, kUplink}), "two leaves") ==
        R"(graph "two leaves" {
  rankdir=BT;
  node [fontname="Helvetica"];
  edge [fontname="Helvetica", fontsize=9];
  { rank=same; node [shape=ellipse]; "h0"; "h1"; }
  { rank=same; node [shape=box]; "leaf0"; "leaf1"; }
  { rank=same; node [shape=box]; "spine0"; }
  "h0" -- "leaf0" [label="10 Gbit/s\n1 us"];
  "h1" -- "leaf1" [label="10 Gbit/s\n1 us"];
  "leaf0" -- "spine0" [label="100 Gbit/s\n0.5 us"];
  "leaf1" -- "spine0" [label="100 Gbit/s\n0.5 us"];
}
)");
}

TEST_CASE("dot: as many nodes and edges as the fabric has nodes and cables") {
  for (const links::Fabric& fabric :
       {links::star(3, kHost), links::ring(5, kHost), links::fat_tree(4, kHost),
        links::gpu_machines({2, 4, 4, kUplink, kHost, kHost, true, 2, kUplink})}) {
    const std::string text = dot_text(fabric, "x");
    CHECK(count(text, " -- ") == fabric.links.size() / 2);
    for (const std::string& name : fabric.node_names) {
      CHECK(count(text, "\"" + name + "\";") == 1);
    }
  }
}

TEST_CASE("dot: names keep their quotes, cables from above point up, both directions are named") {
  links::Fabric fabric = links::star(1, kHost);
  fabric.node_names = {"a \"b\" \\", "line\nend"};
  std::swap(fabric.links[0], fabric.links[1]);
  fabric.links[0].bandwidth_Bps = 2.5e9; // down
  fabric.links[0].latency_s = 3e-6;
  const std::string text = dot_text(fabric, "\"");
  CHECK(count(text, R"(graph "\"" {)") == 1);
  CHECK(count(text,
              R"("a \"b\" \\" -- "line end" [label="10 Gbit/s / 20 Gbit/s\n1 us / 3 us"];)") == 1);
}

} // namespace stepsim::cli
