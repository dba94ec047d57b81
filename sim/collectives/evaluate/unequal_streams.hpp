#pragma once
// Streams of blocks over links of any cost: the linear pipeline `lp` and the double binary tree.
// The transfers of a stream follow so simple a rule that they need not be collected rank by rank
// and step by step, as the sweep over all transfers (max_plus_sweep.hpp) does for any schedule.
// Sums and maxima are those of the sweep, so that the times are equal to the bit, but for periods
// that trees skip.
//   lp      The send port of a rank and the receive port of the next one serve nobody else. All
//           blocks can therefore pass one pair of neighbours before the next pair is looked at:
//             blocks   0   1   2         times at which a rank has them
//             rank 0   0   0   0
//             rank 1   1   2   3         a fast pair of neighbours before it
//             rank 2   4   7   10        a slow one
//   trees   The edges are listed once, and each knows its first slot. In a slot, every second of
//           which an edge uses, all edges that have begun send their next block. Once all edges
//           are at work and two slots have moved all times by the same, further ones do, too, so
//           that whole periods are added at once (equal_streams.hpp says why they may be).
// O(P m) for P ranks and m blocks, at a fraction of the cost of the sweep; trees mostly O(P log P).
#include <optional>

#include "collectives/collective.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/schedule/schedule.hpp"

namespace stepsim::collectives {

// Whether unequal_streams() is known to evaluate the collective. Takes no time worth counting.
[[nodiscard]] bool has_unequal_streams(const Collective& collective);

// Returns what max_plus() gives for the collective and its schedule, without the times of
// transfers. Empty if the schedule is neither lp nor a double binary tree over all ranks, if only
// listed pairs have links, and for an lp of which more pairs of neighbours leave a node than it has
// interfaces, so that they may share one.
[[nodiscard]] std::optional<Evaluation> unequal_streams(const Collective& collective,
                                                        const Schedule& schedule);

} // namespace stepsim::collectives
