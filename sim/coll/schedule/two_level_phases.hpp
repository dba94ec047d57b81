#pragma once
// The schedules of the two-level algorithms (COL 5.9), built from flat ones. With G ranks per node
// ranks k G .. k G + G-1 are those of node k; the last node may be smaller for hierarchical_leader.
//     hierarchical          ring reduce-scatter in every node, an all-reduce of the shards of one
//                           local index between nodes, ring all-gather in every node
//     hierarchical_leader   reduce to the first rank of every node, all-reduce between these,
//                           broadcast from them
// The all-reduce between nodes is by options.inter_algorithm, reduce and broadcast in a node by
// options.intra_algorithm.
#include "coll/schedule/schedule.hpp"

namespace stepsim::coll {

// Appends the phases of hierarchical or hierarchical_leader, whichever the collective names. Throws
// SimulationError for an operation other than allreduce, and for hierarchical with unequal nodes.
void add_two_level_phases(Schedule& schedule, const Collective& collective);

} // namespace stepsim::coll
