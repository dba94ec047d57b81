#pragma once
// The part of unequal_streams() for a phase of two trees over links of any cost: in a slot, every
// second of which an edge uses, all edges that have begun send their next block.
#include <vector>

#include "collectives/collective.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/evaluate/link_costs.hpp"
#include "collectives/schedule/schedule.hpp"

namespace stepsim::collectives {

[[nodiscard]] Evaluation unequal_trees(const Collective& collective, const Schedule& schedule,
                                       const AnyLinks& any_links);

// Returns the bytes of every block.
[[nodiscard]] std::vector<double> block_bytes(const Partition& partition);

} // namespace stepsim::collectives
