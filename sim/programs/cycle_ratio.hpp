#pragma once
// The maximum cycle ratio of a graph whose nodes have weights and whose arcs have distances:
//
//     max over directed cycles of  sum of weights of the nodes / sum of distances of the arcs
//
// Every cycle must have distance > 0. The result is computed from the weights of one cycle. Node
// potentials v prove that no other cycle has a larger ratio: on every arc,
// v[to] >= v[from] + weight[from] - ratio x distance.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace stepsim::programs {

// A graph whose arcs are stored by the node that they lead to: the arcs into node i have the
// positions first[i] .. first[i + 1] - 1 of `from` and `distance`. Arcs of distance 0 must lead to
// nodes of larger number, and a node with an outgoing arc must have an incoming arc.
struct CycleGraph {
  std::vector<std::uint32_t> first = {0};
  std::vector<std::uint32_t> from;
  std::vector<std::uint32_t> distance;
  [[nodiscard]] std::uint32_t nodes() const { return static_cast<std::uint32_t>(first.size() - 1); }
};

struct CycleRatio {
  double ratio{};
  std::vector<std::uint32_t> cycle; // nodes in the direction of the arcs, smallest number first
  std::uint64_t distance{};         // sum of the distances of the cycle
  std::vector<double> potential;    // [node]: v
};

// The maximum cycle ratio; empty if the graph has no cycle. weight[node] may have any sign. The
// method (derived, after Burns and Howard) makes Bellman-Ford passes in node order and raises the
// ratio whenever the binding arcs contain a better cycle. A pass is O(arcs) and follows all arcs of
// distance 0, so that few passes are needed.
[[nodiscard]] std::optional<CycleRatio> maximum_cycle_ratio(const CycleGraph& graph,
                                                            std::span<const double> weight);

} // namespace stepsim::programs
