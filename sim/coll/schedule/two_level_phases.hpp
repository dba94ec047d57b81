#pragma once
// The schedules of the two-level algorithms (COL 5.9), built from flat ones. Equal nodes of G ranks
// have ranks k G .. k G + G-1 in node k. Only hierarchical_leader allows nodes of different sizes.
//     hierarchical          ring reduce-scatter in every node, an all-reduce of the shards of one
//                           local index between nodes, ring all-gather in every node
//     hierarchical_leader   reduce to the first rank of every node, all-reduce between these ranks,
//                           broadcast from them
// options.inter_algorithm is the all-reduce between nodes, options.intra_algorithm the reduce and
// broadcast in a node.
#include "coll/schedule/schedule.hpp"

namespace stepsim::coll {

// Appends the phases of hierarchical or hierarchical_leader, which the collective names. Throws
// SimulationError for an operation other than allreduce, and for hierarchical with unequal nodes.
void add_two_level_phases(Schedule& schedule, const Collective& collective);

} // namespace stepsim::coll
