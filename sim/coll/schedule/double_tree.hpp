#pragma once
// The two complementary binary trees of the double binary tree and the slots of their edges
// (COL 5.7). A rank is a leaf in at least one of them. Block i of an edge has slot 2 i + offset;
// no port is used twice in one slot.
// Example, P = 4: parents of tree 0 are [-,2,0,2], of tree 1 [1,3,1,-].
#include <cstdint>
#include <vector>

namespace stepsim::coll {

struct DoubleTreeEdge {
  std::uint32_t tree{};
  std::uint32_t child{};
  std::uint32_t parent{};
  std::uint32_t reduce_offset{};    // child -> parent
  std::uint32_t broadcast_offset{}; // parent -> child
};

struct DoubleTree {
  std::vector<DoubleTreeEdge> edges; // tree 0 first, child ascending; 2 (P-1) of them
  std::uint32_t reduce_slots{};      // D_r = 1 + largest reduce offset
  std::uint32_t broadcast_slots{};   // D_b
};

// Needs P >= 2 (asserted). O(P log P).
[[nodiscard]] DoubleTree double_tree(std::uint32_t ranks);

// Parent of `rank`; the rank itself at the root.
[[nodiscard]] std::uint32_t double_tree_parent(std::uint32_t tree, std::uint32_t rank,
                                               std::uint32_t ranks);

// D_r and D_b: slots until the first block has passed both trees, up and down.
struct TreeDepths {
  double reduce{};
  double broadcast{};
};
// Of `double_tree(ranks)`. O(P log P), and O(1) for the same number of ranks again.
[[nodiscard]] TreeDepths double_tree_depths(std::uint32_t ranks);

} // namespace stepsim::coll
