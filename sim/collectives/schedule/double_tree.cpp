// How slots are given: every port serves at most two edges, so that the edges that share ports form
// paths and even cycles, which two colours suffice for. An edge of colour c then works in slots of
// parity c. Going up from the leaves (for the reduce) and down from the root (for the broadcast)
// each edge takes the first slot of its parity after the one that brings its data.
#include "collectives/schedule/double_tree.hpp"

#include <algorithm>
#include <cassert>

namespace stepsim::collectives {
namespace {

constexpr std::uint8_t kNoColour = 255;

// The in-order binary tree over 1 .. P-1 with 0 above its root: the lowest set bit of a rank is its
// height, and its parent differs in that bit and the next. Ranks beyond P do not exist; whoever
// would be their child goes one level further up.
std::uint32_t first_tree_parent(std::uint32_t rank, std::uint32_t ranks) {
  if (rank == 0) {
    return 0;
  }
  const std::uint32_t low = rank & (~rank + 1);
  const std::uint32_t up = (rank ^ low) | (2 * low);
  return up >= ranks ? rank ^ low : up;
}

// Both trees are the first one, whose place r holds rank r, or a rank mirrored or shifted by one.
std::uint32_t rank_at(std::uint32_t tree, std::uint32_t place, std::uint32_t ranks) {
  return tree == 0 ? place : ranks % 2 == 0 ? ranks - 1 - place : (place + 1) % ranks;
}

std::uint32_t place_of(std::uint32_t tree, std::uint32_t rank, std::uint32_t ranks) {
  return tree == 0 ? rank : ranks % 2 == 0 ? ranks - 1 - rank : (rank + ranks - 1) % ranks;
}

DoubleTree list_edges(std::uint32_t ranks) {
  DoubleTree trees;
  trees.ranks = ranks;
  trees.roots = {0, rank_at(1, 0, ranks)};
  trees.edges.reserve(2 * std::size_t{ranks - 1});
  // [rank] exclusive or of the places + 1 of the edges to it; there are two at most
  std::vector<std::uint32_t> below(ranks);
  for (const std::uint8_t tree : {std::uint8_t{0}, std::uint8_t{1}}) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if (const std::uint32_t parent = double_tree_parent(tree, rank, ranks); parent != rank) {
        trees.edges.push_back({rank, parent, tree, kNoColour});
        below[parent] ^= static_cast<std::uint32_t>(trees.edges.size());
      }
    }
  }
  trees.siblings.reserve(trees.edges.size());
  for (const DoubleTreeEdge& edge : trees.edges) {
    const auto place = static_cast<std::uint32_t>(trees.siblings.size()) + 1;
    trees.siblings.push_back((below[edge.parent] ^ place) - 1);
  }
  return trees;
}

// Alternating colours along the paths and even cycles that edges with a common port form. They
// stand where the reduce offsets will.
void colour_edges(DoubleTree& trees) {
  std::vector<std::uint32_t> open;
  for (std::uint32_t first = 0; first < trees.edges.size(); ++first) {
    if (trees.edges[first].reduce_offset != kNoColour) {
      continue;
    }
    trees.edges[first].reduce_offset = 0;
    open.push_back(first);
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      const DoubleTreeEdge& edge = trees.edges[at];
      for (const std::uint32_t next :
           {trees.edge_of(1U - edge.tree, edge.child), trees.siblings[at]}) {
        if (next != DoubleTree::kNone && trees.edges[next].reduce_offset == kNoColour) {
          trees.edges[next].reduce_offset = edge.reduce_offset == 0 ? 1 : 0;
          open.push_back(next);
        }
      }
    }
  }
}

// The first slot of the colour from `least` on.
std::uint8_t with_parity(std::uint8_t least, unsigned colour) {
  return static_cast<std::uint8_t>(least + (least + colour) % 2);
}

// A parent is higher than its children: going up and down is going through the heights.
void give_offsets(DoubleTree& trees, std::uint32_t tree) {
  std::vector<std::uint8_t> ready(
      trees.ranks); // [place] first slot at which it can pass on a block
  const auto each_at_height = [&](std::uint64_t low, const auto& call) {
    for (std::uint64_t place = low; place < trees.ranks; place += 2 * low) {
      const auto at = static_cast<std::uint32_t>(place);
      call(trees.edges[trees.edge_of(tree, rank_at(tree, at, trees.ranks))], ready[at],
           ready[first_tree_parent(at, trees.ranks)]);
    }
  };
  std::uint64_t low = 1;
  for (; low < trees.ranks; low *= 2) {
    each_at_height(low, [](DoubleTreeEdge& edge, std::uint8_t& below, std::uint8_t& above) {
      edge.reduce_offset = with_parity(below, edge.reduce_offset);
      above = std::max(above, static_cast<std::uint8_t>(edge.reduce_offset + 1));
    });
  }
  trees.reduce_slots = std::max<std::uint32_t>(trees.reduce_slots, ready.front());
  ready.front() = 0;
  while ((low /= 2) > 0) {
    each_at_height(low, [&](DoubleTreeEdge& edge, std::uint8_t& below, std::uint8_t& above) {
      edge.broadcast_offset = with_parity(above, edge.reduce_offset);
      below = static_cast<std::uint8_t>(edge.broadcast_offset + 1);
      trees.broadcast_slots = std::max<std::uint32_t>(trees.broadcast_slots, below);
    });
  }
}

DoubleTree build_double_tree(std::uint32_t ranks) {
  DoubleTree trees = list_edges(ranks);
  colour_edges(trees);
  give_offsets(trees, 0);
  give_offsets(trees, 1);
  for (std::uint32_t i = 0; i < trees.edges.size(); ++i) {
    DoubleTreeEdge& edge = trees.edges[i];
    const std::uint32_t other = trees.siblings[i];
    edge.completes = other == DoubleTree::kNone || trees.edges[other].tree != edge.tree ||
                     trees.edges[other].reduce_offset < edge.reduce_offset;
  }
  return trees;
}

} // namespace

std::uint32_t double_tree_parent(std::uint32_t tree, std::uint32_t rank, std::uint32_t ranks) {
  return rank_at(tree, first_tree_parent(place_of(tree, rank, ranks), ranks), ranks);
}

// Place 0 has one child. Odd places are leaves; even ones have a child on their left, and one on
// their right if there is a place.
std::uint32_t double_tree_edges(std::uint32_t tree, std::uint32_t rank, std::uint32_t ranks) {
  const std::uint32_t place = place_of(tree, rank, ranks);
  return place == 0 || place % 2 == 1 ? 1 : place + 1 < ranks ? 3 : 2;
}

const DoubleTree& double_tree(std::uint32_t ranks) {
  assert(ranks >= 2 && "a tree has an edge");
  thread_local DoubleTree known;
  if (ranks != known.ranks) {
    known = build_double_tree(ranks);
  }
  return known;
}

TreeDepths double_tree_depths(std::uint32_t ranks) {
  const DoubleTree& trees = double_tree(ranks);
  return {static_cast<double>(trees.reduce_slots), static_cast<double>(trees.broadcast_slots)};
}

} // namespace stepsim::collectives
