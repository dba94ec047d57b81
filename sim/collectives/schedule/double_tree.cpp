// How slots are given: every port serves at most two edges, one of each tree, so that the edges
// that share ports form paths and even cycles, which two colours suffice for. An edge of colour c
// then works in slots of parity c. Going down from the root (for the broadcast) and up from the
// leaves (for the reduce) each edge takes the first slot of its parity after the one that brings
// its data.
#include "collectives/schedule/double_tree.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace stepsim::collectives {
namespace {

constexpr std::uint32_t kNoParent = ~std::uint32_t{0};

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

// The (at most two) edges at one port.
struct PortEdges {
  std::array<std::uint32_t, 2> edge{kNoParent, kNoParent};
  void add(std::uint32_t index) {
    assert(edge[1] == kNoParent && "a port serves at most two edges");
    (edge[0] == kNoParent ? edge[0] : edge[1]) = index;
  }
  [[nodiscard]] std::uint32_t other(std::uint32_t index) const {
    return edge[0] == index ? edge[1] : edge[0];
  }
};

// Alternating colours along the paths and even cycles that edges with a common port form.
std::vector<std::uint32_t> colour_edges(const std::vector<DoubleTreeEdge>& edges,
                                        std::uint32_t ranks) {
  std::vector<PortEdges> senders(ranks);
  std::vector<PortEdges> receivers(ranks);
  for (std::uint32_t i = 0; i < edges.size(); ++i) {
    senders[edges[i].child].add(i);
    receivers[edges[i].parent].add(i);
  }
  std::vector<std::uint32_t> colours(edges.size(), kNoParent);
  std::vector<std::uint32_t> open;
  for (std::uint32_t first = 0; first < edges.size(); ++first) {
    if (colours[first] != kNoParent) {
      continue;
    }
    colours[first] = 0;
    open.push_back(first);
    while (!open.empty()) {
      const std::uint32_t edge = open.back();
      open.pop_back();
      for (const std::uint32_t next :
           {senders[edges[edge].child].other(edge), receivers[edges[edge].parent].other(edge)}) {
        if (next != kNoParent && colours[next] == kNoParent) {
          colours[next] = 1 - colours[edge];
          open.push_back(next);
        }
      }
    }
  }
  return colours;
}

std::uint32_t with_parity(std::uint32_t least, std::uint32_t colour) {
  return least % 2 == colour ? least : least + 1;
}

} // namespace

std::uint32_t double_tree_parent(std::uint32_t tree, std::uint32_t rank, std::uint32_t ranks) {
  if (tree == 0) {
    return first_tree_parent(rank, ranks);
  }
  if (ranks % 2 == 0) {
    return ranks - 1 - first_tree_parent(ranks - 1 - rank, ranks);
  }
  return (first_tree_parent((rank + ranks - 1) % ranks, ranks) + 1) % ranks;
}

namespace {

// [rank] its number of edges to the root. A climb ends at a rank whose depth is known.
std::vector<std::uint32_t> depths_of(const std::vector<std::uint32_t>& parents) {
  std::vector<std::uint32_t> depths(parents.size(), kNoParent);
  std::vector<std::uint32_t> path;
  for (std::uint32_t rank = 0; rank < parents.size(); ++rank) {
    std::uint32_t at = rank;
    for (; depths[at] == kNoParent && parents[at] != at; at = parents[at]) {
      path.push_back(at);
    }
    depths[at] = parents[at] == at ? 0 : depths[at];
    for (; !path.empty(); path.pop_back()) {
      depths[path.back()] = depths[parents[path.back()]] + 1;
    }
  }
  return depths;
}

DoubleTree build_double_tree(std::uint32_t ranks) {
  DoubleTree result;
  std::vector<std::vector<std::size_t>> by_depth; // [depth of the child] edges
  for (std::uint32_t tree = 0; tree < 2; ++tree) {
    std::vector<std::uint32_t> parents(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      parents[rank] = double_tree_parent(tree, rank, ranks);
    }
    const std::vector<std::uint32_t> depths = depths_of(parents);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if (parents[rank] != rank) {
        by_depth.resize(std::max(by_depth.size(), std::size_t{depths[rank]} + 1));
        by_depth[depths[rank]].push_back(result.edges.size());
        result.edges.push_back({tree, rank, parents[rank], 0, 0});
      }
    }
  }
  const std::vector<std::uint32_t> colours = colour_edges(result.edges, ranks);
  // First slot at which a rank can pass on its first block, per tree; down from the root, then up.
  std::array<std::vector<std::uint32_t>, 2> ready;
  ready.fill(std::vector<std::uint32_t>(ranks, 0));
  for (const std::vector<std::size_t>& edges : by_depth) {
    for (const std::size_t i : edges) {
      DoubleTreeEdge& edge = result.edges[i];
      edge.broadcast_offset = with_parity(ready[edge.tree][edge.parent], colours[i]);
      ready[edge.tree][edge.child] = edge.broadcast_offset + 1;
      result.broadcast_slots = std::max(result.broadcast_slots, edge.broadcast_offset + 1);
    }
  }
  ready.fill(std::vector<std::uint32_t>(ranks, 0));
  for (auto edges = by_depth.rbegin(); edges != by_depth.rend(); ++edges) {
    for (const std::size_t i : *edges) {
      DoubleTreeEdge& edge = result.edges[i];
      edge.reduce_offset = with_parity(ready[edge.tree][edge.child], colours[i]);
      std::uint32_t& parent_ready = ready[edge.tree][edge.parent];
      parent_ready = std::max(parent_ready, edge.reduce_offset + 1);
      result.reduce_slots = std::max(result.reduce_slots, edge.reduce_offset + 1);
    }
  }
  return result;
}

} // namespace

const DoubleTree& double_tree(std::uint32_t ranks) {
  assert(ranks >= 2 && "a tree has an edge");
  thread_local std::uint32_t known_ranks = 0;
  thread_local DoubleTree known;
  if (ranks != known_ranks) {
    known = build_double_tree(ranks);
    known_ranks = ranks;
  }
  return known;
}

TreeDepths double_tree_depths(std::uint32_t ranks) {
  const DoubleTree& trees = double_tree(ranks);
  return {static_cast<double>(trees.reduce_slots), static_cast<double>(trees.broadcast_slots)};
}

} // namespace stepsim::collectives
