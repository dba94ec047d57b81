#pragma once
// Two nodes that stand for many. Where all nodes are equal, each phase runs inside all nodes alike,
// or is a ring over the nodes or over all ranks whose parts have one size. Then every node does the
// same at the same times as the next one, and it makes no difference whether its neighbours are two
// nodes or one that is both:
//     5 nodes   0 -> 1 -> 2 -> 3 -> 4 -> 0        2 nodes   0 -> 1 -> 0, for as many steps
#include <optional>

#include "collectives/collective.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/schedule/schedule.hpp"

namespace stepsim::collectives {

struct TwoNodes {
  Collective collective; // with the ranks of two nodes
  Schedule schedule;     // with the steps of all nodes
};

// Empty if the nodes are fewer than three or differ, if ranks or their entry times do, on a fabric,
// and if a phase is of another kind. Takes O(ranks) time.
[[nodiscard]] std::optional<TwoNodes> two_of_equal_nodes(const Collective& collective,
                                                         const Schedule& schedule);

// Extends the result of events() for the two nodes to all nodes of `collective`. The times are
// those of playing all nodes, to the bit.
[[nodiscard]] Evaluation of_all_nodes(Evaluation two, const Collective& collective);

} // namespace stepsim::collectives
