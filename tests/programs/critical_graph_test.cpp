#include "programs/steady_state.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

using namespace stepsim::programs;

namespace {

// Arcs (from, to, distance).
CycleGraph graph_of(std::uint32_t nodes, const std::vector<std::array<std::uint32_t, 3>>& arcs) {
  CycleGraph graph;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (const auto& [from, to, distance] : arcs) {
      if (to == node) {
        graph.from.push_back(from);
        graph.distance.push_back(distance);
      }
    }
    graph.first.push_back(static_cast<std::uint32_t>(graph.from.size()));
  }
  return graph;
}

} // namespace

TEST_CASE("cycle ratio: the best of two cycles, with its nodes and distance") {
  // 0 -> 1 -> 0 over one iteration, 2 over three, an arc between them.
  const CycleGraph graph = graph_of(3, {{0, 1, 0}, {1, 0, 1}, {1, 2, 0}, {2, 2, 3}});
  const std::vector<double> light{1, 2, 8};
  const std::optional<CycleRatio> first = maximum_cycle_ratio(graph, light);
  REQUIRE(first);
  CHECK(first->ratio == (1.0 + 2) / 1);
  CHECK(first->cycle == std::vector<std::uint32_t>{0, 1});
  const std::vector<double> heavy{1, 2, 12};
  const std::optional<CycleRatio> second = maximum_cycle_ratio(graph, heavy);
  REQUIRE(second);
  CHECK(second->ratio == 12.0 / 3);
  CHECK(second->cycle == std::vector<std::uint32_t>{2});
  CHECK(second->distance == 3);
  CHECK(!maximum_cycle_ratio(graph_of(2, {}), std::vector<double>{1, 1}));
}

TEST_CASE("cycle ratio: weights may be negative") {
  const CycleGraph graph = graph_of(2, {{0, 0, 1}, {1, 1, 2}});
  CHECK(maximum_cycle_ratio(graph, std::vector<double>{-3, -4})->ratio == -4.0 / 2);
}

TEST_CASE("critical arcs: those of critical cycles, not those that only hold with equality") {
  // Two critical cycles of 2 s per iteration; the arc from one to the other is tight.
  const CycleGraph graph = graph_of(2, {{0, 0, 1}, {0, 1, 1}, {1, 1, 1}});
  const std::vector<double> weight{2, 2};
  const CycleGraph critical = critical_arcs(graph, weight, *maximum_cycle_ratio(graph, weight));
  CHECK(critical.from == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("components: nodes that reach each other") {
  const std::vector<std::uint32_t> found =
      components(graph_of(4, {{0, 1, 0}, {1, 0, 1}, {1, 2, 0}, {2, 3, 0}, {3, 2, 1}}));
  CHECK(found[0] == found[1]);
  CHECK(found[2] == found[3]);
  CHECK(found[0] != found[2]);
}

TEST_CASE("shortest cycle: fewest nodes, then the smallest first one") {
  const CycleGraph graph =
      graph_of(5, {{0, 1, 0}, {1, 2, 0}, {2, 0, 1}, {1, 3, 0}, {3, 1, 1}, {2, 4, 0}, {4, 2, 1}});
  const std::vector<std::uint32_t> order{0, 1, 2, 3, 4};
  CHECK(shortest_cycle(graph, order, {0, 1, 2}) == std::vector<std::uint32_t>{1, 3});
  const std::vector<std::uint32_t> other{4, 3, 1, 2, 0};
  CHECK(shortest_cycle(graph, other, {0, 1, 2}) == std::vector<std::uint32_t>{4, 2});
}
