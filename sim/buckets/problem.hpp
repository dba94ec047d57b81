#pragma once
// The merge problem: gradients become ready one after another in backward order, and one FIFO
// channel sends them. Neighbours may be merged into one message (a group). A plan is the list of
// groups.
//
//     backward   |--3--|-2-|----1----|            items 1, 2, 3 = layers 3, 2, 1
//     ready            r1  r2        r3
//     channel          |==1==|       |===2,3===|   groups {1} {2,3};  finish = end of the last
//
// start(g) = max(end(g-1), ready of its last item), end(g) = start(g) + T(bytes(g)).   (MER 3)
// All times count from the start of backward. Items are numbered from 0 in the code, but from 1 in
// files and in the picture above.

#include "buckets/cost.hpp"

#include <string>

namespace stepsim::buckets {

struct Item {
  Seconds ready;           // non-decreasing over the list
  Bytes bytes;             // >= 0
  std::int64_t elements{}; // 0 = unknown; mg_wfbp_small_tensors then uses bytes / 4
  std::uint32_t dtype{};   // equal numbers = equal element type; ddp and horovod do not mix them
  std::uint32_t layer{};   // index of its layer in forward order
  // The ready order that ddp uses sorts items by ready_order, then by descending registration, then
  // as in this list. Both may be left at 0.
  std::int64_t ready_order{};  // index in the measured gradient-ready order
  std::int64_t registration{}; // index in registration (forward) order
  std::int64_t bucket = -1;    // trace: its measured bucket in launch order; -1 = unknown
};

struct Problem {
  std::vector<Item> items;
  Cost cost;
  Seconds channel_free{}; // F_0: the channel is busy until then
};

// One message: the items that it carries, ascending. Groups are contiguous runs, except
//   ddp and horovod with several element types;
//   ddp and trace in other orders than that of the items;
//   priority, whose groups are chunks of an item.
struct Group {
  std::vector<std::uint32_t> items;
  Bytes bytes;
  Seconds ready; // latest ready time (ddp, trace: over all groups so far; horovod: its tick)
  Seconds start{};
  Seconds end{};
  [[nodiscard]] std::uint32_t first() const { return items.front(); }
  [[nodiscard]] std::uint32_t last() const { return items.back(); }
};

struct Plan {
  std::vector<Group> groups;     // launch order
  Seconds finish;                // max(end of the last message, last ready time)
  std::int64_t waiting_merges{}; // merges that made a ready gradient wait (mg_wfbp*, 0 elsewhere)
  std::vector<std::string> warnings;
};

// Functions that planners share: they build the groups of a plan, and compute times from the
// groups.

struct Planner;
struct ScheduleOptions;

// Appends the group of items first..last (from 0, both included), which is ready when its last item
// is. `bytes` are those of the group, or 0 where nobody has counted them yet.
void add_run(Plan& plan, const Problem& problem, std::size_t first, std::size_t last,
             double bytes = 0);

// Appends the groups that begin at these items, ascending; the last one ends with the last item.
void add_runs(Plan& plan, const Problem& problem, std::span<const std::size_t> firsts);

// Sets the bytes of each group from its items. Groups that have bytes keep them: groups of
// `priority` are chunks of an item.
void count_bytes(const Problem& problem, Plan& plan);

// Sets start and end of each group from its bytes and `ready`, as `planner` sends messages, and the
// finish of the plan.
void replay_groups(const Problem& problem, const Planner& planner, const ScheduleOptions& options,
                   Plan& plan);

// Lower bounds of all plans of a problem, and a test for plans that are known to be optimal.

struct ScheduleOptions;

// Returns a lower bound of `finish` over all contiguous groupings, at least the last ready time:
//     max(r_n + T(p_n), max(F_0, r_1) + T(S_n))
// T is the cost (cost.hpp), r_1 and r_n the ready times of the first and the last item with bytes,
// p_n the bytes of that last item, S_n all bytes, and F_0 the time at which the channel is free.
// For a CurveCost, which may decrease with the bytes, T(p_n) is the least T(S_n - S_j) over j < n.
// The second term is used only if the cost is known to be sub-additive. Source: MER 3 (derived).
[[nodiscard]] Seconds finish_lower_bound(const Problem& problem);

// Returns a lower bound of `finish` over all contiguous groupings for a linear cost and up to
// `concurrency` messages at once, of which k move data at k / (1 + contention (k - 1)) times the
// rate of one. Source: MER 3 (derived).
[[nodiscard]] Seconds finish_lower_bound_at_once(const Problem& problem,
                                                 const ScheduleOptions& options);
// Returns min over k <= concurrency of (1 + contention (k - 1)) / k.
[[nodiscard]] double least_slowdown(const ScheduleOptions& options);

// Whether schedule mg_wfbp_small_tensors merges more than this plan of mg_wfbp.
[[nodiscard]] bool merges_small_tensors(const Problem& problem, const Plan& mg_wfbp_plan);

// Whether the cost is linear and the plan of the published greedy has no waiting merge, which makes
// it optimal. Source: MER 8, fact 4.
[[nodiscard]] bool certified_optimal(const Problem& problem, const Plan& mg_wfbp_plan);

} // namespace stepsim::buckets
