#pragma once
// Streams of blocks: the linear pipeline `lp` and the double binary tree. Their transfers follow so
// simple a rule that they need not be collected rank by rank and step by step, as the sweep over
// all transfers (max_plus_sweep.hpp) does for any schedule. Sums and maxima are those of the sweep.
//   lp      The send port of a rank and the receive port of the next one serve nobody else. All
//           blocks can therefore pass one pair of neighbours before the next pair is looked at:
//             blocks   0   1   2         times at which a rank has them
//             rank 0   0   0   0
//             rank 1   1   2   3         a fast pair of neighbours before it
//             rank 2   4   7   10        a slow one
//           A pair that finds all times as the pair before it did, later by a constant, leaves them
//           later by the same: O(P + m) for P equal ranks and m blocks, at most O(P m).
//   trees   The edges are listed once, and each knows its first slot. In a slot, every second of
//           which an edge uses, all edges that have begun send their next block. Once all edges
//           are at work and two slots have moved all times by the same, further ones do, too, so
//           that whole periods are added at once: mostly O(P log P), whatever the number of blocks.
// A pair and a period are monotone and move with their inputs. If all times have moved by one
// constant up to an error e, then k more of them move the times by k times that constant up to k e,
// so that the rounding of the times found equal bounds the error of what is left out. Where nothing
// is left out, times are those of the sweep to the bit.

#include "collectives/evaluate/evaluation.hpp"
#include "collectives/evaluate/link_costs.hpp"
#include "collectives/schedule/schedule.hpp"

namespace stepsim::collectives {

// Whether streams() is known to evaluate the collective. Takes no time worth counting.
[[nodiscard]] bool has_streams(const Collective& collective);
// Whether ranks and links are alike, too, and nothing is delayed: events() then gives the same.
[[nodiscard]] bool has_equal_streams(const Collective& collective);

// Returns what max_plus() gives for the collective and its schedule, without the times of
// transfers; `events` is the number that events() counts where has_equal_streams(). Empty if the
// schedule is neither lp nor a double binary tree over all ranks, if only listed pairs have links,
// and for an lp of which more pairs of neighbours leave a node than it has interfaces, so that they
// may share one.
[[nodiscard]] std::optional<Evaluation> streams(const Collective& collective,
                                                const Schedule& schedule);

// The part of streams() for a phase of two trees; counts no events.
[[nodiscard]] Evaluation double_trees(const Collective& collective, const Schedule& schedule,
                                      const AnyLinks& links);

// Whether differences between `low` and `high` of times up to `end` are one up to rounding.
[[nodiscard]] inline bool same_advance(double low, double high, double end) {
  constexpr double kRounding = 4e-15; // a few sums
  return high - low <= kRounding * end;
}

} // namespace stepsim::collectives
