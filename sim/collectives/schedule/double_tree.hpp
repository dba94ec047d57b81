#pragma once
// The two complementary binary trees of the double binary tree, and the slots of their edges (COL
// 5.7). Every rank is a leaf in at least one tree. Block i of an edge has slot 2 i + offset; no
// port is used twice in one slot. Example, P = 4: parents of tree 0 are [-,2,0,2], of tree 1
// [1,3,1,-].
#include <array>
#include <cstdint>
#include <vector>

namespace stepsim::collectives {

struct DoubleTreeEdge {
  std::uint32_t child{};
  std::uint32_t parent{};
  std::uint8_t tree{};
  std::uint8_t reduce_offset{};    // child -> parent
  std::uint8_t broadcast_offset{}; // parent -> child
  bool completes = false;          // the last child of its parent to send a block up
};

struct DoubleTree {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint32_t ranks{};
  std::array<std::uint32_t, 2> roots{};
  std::vector<DoubleTreeEdge> edges;   // 2 (P-1) edges: tree 0 first, child ascending
  std::vector<std::uint32_t> siblings; // [edge] the other one to its parent, of any tree; or kNone
  std::uint32_t reduce_slots{};        // D_r = 1 + largest reduce offset
  std::uint32_t broadcast_slots{};     // D_b = 1 + largest broadcast offset

  // Returns the place in `edges` of the edge from `rank` to its parent; kNone for the root.
  [[nodiscard]] std::uint32_t edge_of(std::uint32_t tree, std::uint32_t rank) const {
    return rank == roots[tree] ? kNone : tree * (ranks - 1) + rank - (rank > roots[tree] ? 1U : 0U);
  }
};

// Returns both trees, for P >= 2 (asserted). Costs are asked for one number of ranks many times in
// a row: the last answer is kept, and lasts until this thread asks for another number. O(P).
[[nodiscard]] const DoubleTree& double_tree(std::uint32_t ranks);

// Returns the parent of `rank`, or `rank` if it is the root.
[[nodiscard]] std::uint32_t double_tree_parent(std::uint32_t tree, std::uint32_t rank,
                                               std::uint32_t ranks);

// Returns the number of edges of `rank` in the tree, to its parent and its children. O(1).
[[nodiscard]] std::uint32_t double_tree_edges(std::uint32_t tree, std::uint32_t rank,
                                              std::uint32_t ranks);

// D_r and D_b: number of slots until the first block of both trees has reached the roots, and until
// it has come from the roots to all ranks.
struct TreeDepths {
  double reduce{};
  double broadcast{};
};
// Returns the depths of double_tree(ranks).
[[nodiscard]] TreeDepths double_tree_depths(std::uint32_t ranks);

} // namespace stepsim::collectives
