#pragma once
// The critical cycles of a graph, those that attain its maximum cycle ratio: the arcs that they
// consist of, how many iterations a system takes to repeat, and a shortest one of them to show.
#include <cstdint>
#include <span>
#include <vector>

#include "program/cycle_ratio.hpp"

namespace stepsim::program {

// The arcs that hold with equality (up to 1e-12 of the ratio) and lie on a cycle of such arcs: all
// critical cycles are cycles of this graph, and all its cycles are critical. Same nodes.
[[nodiscard]] CycleGraph critical_arcs(const CycleGraph& graph, std::span<const double> weight,
                                       const CycleRatio& solution);

// Strongly connected component of every node, numbered in no particular order.
[[nodiscard]] std::vector<std::uint32_t> components(const CycleGraph& graph);

// Least common multiple, over the strongly connected components, of the greatest common divisor of
// the distances of their cycles: after how many iterations a max-plus system with these critical
// arcs repeats. 1 without cycles; at most 2^62.
[[nodiscard]] std::int64_t cyclicity(const CycleGraph& critical);

// A cycle with fewest nodes, of these one with the smallest first node number `rank` (per node).
// The search looks at 2e7 arcs at most and then keeps the best cycle so far, `first` at the start.
[[nodiscard]] std::vector<std::uint32_t> shortest_cycle(const CycleGraph& critical,
                                                        std::span<const std::uint32_t> rank,
                                                        std::vector<std::uint32_t> first);

} // namespace stepsim::program
