#pragma once
// Streams of blocks over equal ranks on equal links: the linear pipeline `lp` and the double binary
// tree. Their schedules have a period, so that a few ranks or slots tell what all do.
//   lp      every inner rank does what the rank before it does, later by one hop:
//             blocks        0   1   2   3        ends of the sends of three ranks, in hops
//             rank 0        1   2   3   4
//             rank 1        2   3   4   5        = rank 0 + 1, and so is every further rank
//           O(P + m) for P ranks and m blocks
//   trees   with all edges at work, two slots do what the two slots before them did, later by a
//           constant; whole periods are added at once: O(P log P), whatever the number of blocks
// A step of either is monotone and moves with its inputs. If all times have moved by one constant
// up to an error e, then k more steps move them by k times that constant up to k e, so that the
// rounding of the times found equal bounds the error of what is left out.

#include "collectives/evaluate/evaluation.hpp"
#include "collectives/evaluate/link_costs.hpp"
#include "collectives/schedule/schedule.hpp"

namespace stepsim::collectives {

// Whether equal_streams() evaluates the collective: lp or double_binary_tree where uniform_cost()
// is given, links have no delay, and there is something to send.
[[nodiscard]] bool has_equal_streams(const Collective& collective);

// Returns what max_plus() and events() give for the collective and its schedule, without the times
// of transfers, up to the rounding of sums; `events` is the count of events(). Empty if
// has_equal_streams() is false.
[[nodiscard]] std::optional<Evaluation> equal_streams(const Collective& collective,
                                                      const Schedule& schedule);

// The two trees of a double binary tree over equal ranks (streams.hpp): how blocks advance is
// the same for most ranks and blocks, so that a few of them are played.

// Seconds that ranks and links of the collective take; the same for all.
struct StreamCosts {
  double enter_s{}, latency_s{}, block_latency_s{}, per_byte_s{}, reduction_s_per_byte{};
  bool serial{}; // an addition holds the receive port
};

// The part of equal_streams() for a phase of two trees, by local rank; counts neither events nor
// messages.
[[nodiscard]] std::vector<double> equal_trees(const Phase& phase, const StreamCosts& costs);

// Whether differences between `low` and `high` of times up to `end` are one up to rounding.
[[nodiscard]] inline bool same_advance(double low, double high, double end) {
  constexpr double kRounding = 4e-15; // a few sums
  return high - low <= kRounding * end;
}

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
//           that whole periods are added at once (streams.hpp says why they may be).
// O(P m) for P ranks and m blocks, at a fraction of the cost of the sweep; trees mostly O(P log P).

// Whether unequal_streams() is known to evaluate the collective. Takes no time worth counting.
[[nodiscard]] bool has_unequal_streams(const Collective& collective);

// Returns what max_plus() gives for the collective and its schedule, without the times of
// transfers. Empty if the schedule is neither lp nor a double binary tree over all ranks, if only
// listed pairs have links, and for an lp of which more pairs of neighbours leave a node than it has
// interfaces, so that they may share one.
[[nodiscard]] std::optional<Evaluation> unequal_streams(const Collective& collective,
                                                        const Schedule& schedule);

// The part of unequal_streams() for a phase of two trees over links of any cost: in a slot, every
// second of which an edge uses, all edges that have begun send their next block.

[[nodiscard]] Evaluation unequal_trees(const Collective& collective, const Schedule& schedule,
                                       const AnyLinks& any_links);

// Returns the bytes of every block.
[[nodiscard]] std::vector<double> block_bytes(const Partition& partition);

} // namespace stepsim::collectives
