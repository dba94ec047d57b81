#pragma once
// The maximum cycle ratio of a graph whose nodes have weights and whose arcs have distances:
//
//     max over directed cycles of  sum of weights of the nodes / sum of distances of the arcs
//
// Every cycle must have distance > 0. The ratio is that of a cycle, computed from its weights
// alone, with node potentials v as the certificate that none is larger: v[to] >= v[from] +
// weight[from] - ratio x distance on every arc.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace stepsim::program {

// Nodes are numbered so that arcs of distance 0 lead to larger numbers; a node that has an arc out
// has an arc in. The arcs into node i have the positions [first[i], first[i + 1]) of `from` and
// `distance`.
struct CycleGraph {
  std::vector<std::uint32_t> first = {0};
  std::vector<std::uint32_t> from;
  std::vector<std::uint32_t> distance;
  [[nodiscard]] std::uint32_t nodes() const { return static_cast<std::uint32_t>(first.size() - 1); }
};

struct CycleRatio {
  double ratio{};
  std::vector<std::uint32_t> cycle; // nodes in the direction of the arcs, smallest first
  std::uint64_t distance{};         // of the cycle
  std::vector<double> potential;    // per node
};

// Empty if the graph has no cycle. Weights may have any sign. Bellman-Ford passes in node order
// that raise the ratio to that of any better cycle among the binding arcs; derived, after Burns and
// Howard. A pass is O(arcs); one pass follows all arcs of distance 0, so that their number is
// small.
[[nodiscard]] std::optional<CycleRatio> maximum_cycle_ratio(const CycleGraph& graph,
                                                            std::span<const double> weight);

} // namespace stepsim::program
