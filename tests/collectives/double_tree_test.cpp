#include "collectives/schedule/double_tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

using stepsim::collectives::double_tree;
using stepsim::collectives::double_tree_edges;
using stepsim::collectives::double_tree_parent;
using stepsim::collectives::DoubleTree;
using stepsim::collectives::DoubleTreeEdge;

namespace {
std::vector<std::uint32_t> parents(std::uint32_t tree, std::uint32_t ranks) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    result.push_back(double_tree_parent(tree, rank, ranks));
  }
  return result;
}
} // namespace

TEST_CASE("double tree: parents of 4, 5 and 8 ranks; a root is its own parent") {
  using Ranks = std::vector<std::uint32_t>;
  CHECK(parents(0, 4) == Ranks{0, 2, 0, 2});
  CHECK(parents(1, 4) == Ranks{1, 3, 1, 3});
  CHECK(parents(0, 5) == Ranks{0, 2, 4, 2, 0});
  CHECK(parents(1, 5) == Ranks{1, 1, 3, 0, 3});
  CHECK(parents(0, 8) == Ranks{0, 2, 4, 2, 0, 6, 4, 6});
  CHECK(parents(1, 8) == Ranks{1, 3, 1, 7, 5, 3, 5, 7});
}

TEST_CASE("double tree: slots until the first block is through") {
  const std::vector<std::vector<std::uint32_t>> rows{{2, 1, 1}, {3, 3, 3}, {4, 4, 4}, {5, 5, 5},
                                                     {6, 4, 5}, {7, 4, 5}, {8, 5, 5}, {16, 8, 8}};
  for (const std::vector<std::uint32_t>& row : rows) {
    CAPTURE(row[0]);
    CHECK(double_tree(row[0]).reduce_slots == row[1]);
    CHECK(double_tree(row[0]).broadcast_slots == row[2]);
  }
}

TEST_CASE("double tree: for 2 to 65 ranks no port is used twice in a slot and data flows forward") {
  for (std::uint32_t ranks = 2; ranks <= 65; ++ranks) {
    CAPTURE(ranks);
    const DoubleTree trees = double_tree(ranks);
    REQUIRE(trees.edges.size() == 2 * (ranks - 1));
    // Blocks repeat every two slots, so that offsets of one port must differ modulo 2.
    std::set<std::pair<std::uint32_t, std::uint32_t>> up_send;
    std::set<std::pair<std::uint32_t, std::uint32_t>> up_receive;
    std::set<std::pair<std::uint32_t, std::uint32_t>> down_send;
    std::set<std::pair<std::uint32_t, std::uint32_t>> down_receive;
    for (const DoubleTreeEdge& edge : trees.edges) {
      CHECK(up_send.insert({edge.child, edge.reduce_offset % 2}).second);
      CHECK(up_receive.insert({edge.parent, edge.reduce_offset % 2}).second);
      CHECK(down_send.insert({edge.parent, edge.broadcast_offset % 2}).second);
      CHECK(down_receive.insert({edge.child, edge.broadcast_offset % 2}).second);
      for (const DoubleTreeEdge& above : trees.edges) {
        if (above.tree == edge.tree && above.child == edge.parent) {
          CHECK(above.reduce_offset > edge.reduce_offset);
          CHECK(above.broadcast_offset < edge.broadcast_offset);
        }
      }
    }
    for (const std::uint32_t tree : {0U, 1U}) {
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        CHECK(double_tree_edges(tree, rank, ranks) ==
              std::ranges::count_if(trees.edges, [&](const DoubleTreeEdge& edge) {
                return edge.tree == tree && (edge.child == rank || edge.parent == rank);
              }));
      }
    }
    std::uint32_t log2 = 0;
    while ((1U << log2) < ranks) {
      ++log2;
    }
    CHECK(trees.reduce_slots <= 2 * log2);
    CHECK(trees.broadcast_slots <= 2 * log2);
  }
}
