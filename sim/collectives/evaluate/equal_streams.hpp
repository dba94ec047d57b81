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
#include <optional>

#include "collectives/collective.hpp"
#include "collectives/evaluate/evaluation.hpp"
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

} // namespace stepsim::collectives
