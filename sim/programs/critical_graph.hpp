#pragma once
// The critical cycles of a graph, which are the cycles with the maximum cycle ratio
// (cycle_ratio.hpp): their arcs, the number of iterations after which the times of a max-plus
// system repeat, and a shortest critical cycle to show.
#include <cstdint>
#include <span>
#include <vector>

#include "programs/cycle_ratio.hpp"

namespace stepsim::programs {

// The graph of all arcs that lie on a critical cycle; the nodes are the same. An arc is critical if
// its potential inequality (cycle_ratio.hpp) holds with equality, up to 1e-12 of the ratio or of
// the largest weight, and the arc lies on a cycle of such arcs. All cycles of the new graph are
// critical.
[[nodiscard]] CycleGraph critical_arcs(const CycleGraph& graph, std::span<const double> weight,
                                       const CycleRatio& solution);

// [node]: its strongly connected component; components are numbered in no particular order.
[[nodiscard]] std::vector<std::uint32_t> components(const CycleGraph& graph);

// The number of iterations after which the times of a max-plus system with these critical arcs
// repeat: the least common multiple, over the strongly connected components, of the greatest common
// divisor of the distances of their cycles. 1 if there is no cycle; at most 2^62.
[[nodiscard]] std::int64_t cyclicity(const CycleGraph& critical);

// A cycle with the fewest nodes; among several, one whose first node has the smallest `rank`
// (`rank` gives the order of nodes: [node]). The search visits at most 2e7 arcs and then returns
// the best cycle so far, which is `first` at the start.
[[nodiscard]] std::vector<std::uint32_t> shortest_cycle(const CycleGraph& critical,
                                                        std::span<const std::uint32_t> rank,
                                                        std::vector<std::uint32_t> first);

} // namespace stepsim::programs
