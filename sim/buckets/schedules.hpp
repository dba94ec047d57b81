#pragma once
// The planners, each with the words for its options if it has any. A planner decides the groups of
// a problem and the earliest start of each (planners.hpp); one of several messages at once also
// says how they are sent (sending.hpp).

#include "buckets/problem.hpp"

namespace stepsim::buckets {

enum class Schedule : std::uint8_t;
struct ScheduleOptions;
struct Sending;
struct SendInput;
struct SendTimes;

// Wait-free backpropagation: one message per gradient, sent as soon as it is ready (Poseidon, and
// the baseline of the MG-WFBP authors with a threshold of 0; MER 5.1). Every gradient has a
// start-up.
//
// Returns one group per item. O(items).
[[nodiscard]] Plan plan_wfbp(const Problem& problem, const ScheduleOptions& options);

// One message with all gradients, after backward (SyncEASGD; MER 5.1). It has one start-up and no
// overlap.
//
// Returns one group of all items. O(items).
[[nodiscard]] Plan plan_single(const Problem& problem, const ScheduleOptions& options);

// The buckets of PyTorch's DistributedDataParallel (MER 5.2). Gradients fill a bucket until it has
// bucket_bytes, separately per element type. Buckets are launched in order; none is launched before
// an earlier bucket is ready.
//
// Plans the buckets. Groups need not be contiguous if there are several element types. O(items log
// items).
[[nodiscard]] Plan plan_ddp(const Problem& problem, const ScheduleOptions& options);

// Returns the limit of the first bucket of every element type: the option, else 1 MiB for the
// default bucket_bytes, as in PyTorch, so that the first message is sent early, else bucket_bytes.
[[nodiscard]] Bytes first_bucket_bytes(const ScheduleOptions& options);

// Returns "buckets of 25 MiB, the first of 1 MiB".
[[nodiscard]] std::string ddp_settings(const ScheduleOptions& options);

// Schedule `caps`: the same with a list of limits, PyTorch's bucket_cap_mb_list. The buckets of an
// element type take the limits in turn, and the last limit repeats.
[[nodiscard]] Plan plan_caps(const Problem& problem, const ScheduleOptions& options);

// Returns "mine: buckets of 1, 25 MiB".
[[nodiscard]] std::string caps_settings(const ScheduleOptions& options);

// Tensor fusion of Horovod (MER 5.3): a background thread wakes up every cycle_s and sends all
// gradients that have become ready, in messages of one element type and at most fusion_bytes; a
// larger gradient is sent alone.
//
// Plans the groups; `ready` of a group is the tick that sends it. With `blocking`, no cycle begins
// before the last message of the previous cycle has ended. O(items + ticks).
[[nodiscard]] Plan plan_horovod(const Problem& problem, const ScheduleOptions& options);

// Returns "fusion buffer of 128 MiB, cycles of 1 ms".
[[nodiscard]] std::string horovod_settings(const ScheduleOptions& options);

// The published greedy of MG-WFBP (MER 5.4): the next gradient joins the open group iff the wait
// for it, counted from the start of the group, is shorter than the start-up that the merge saves.
//
// Plans the groups for any cost; `waiting_merges` counts the merges that made a ready gradient
// wait. Optimal for a linear cost if there are none (problem.hpp). O(items).
[[nodiscard]] Plan plan_mg_wfbp(const Problem& problem, const ScheduleOptions& options);
// Does the same as plan_mg_wfbp(), except that a gradient also joins while the group has fewer than
// 8192 elements, as in the authors' code. An item without a number of elements counts as values of
// 4 bytes.
[[nodiscard]] Plan plan_mg_wfbp_small_tensors(const Problem& problem,
                                              const ScheduleOptions& options);

// The planner that never waits: whenever the channel is free, all gradients that are ready are sent
// as one message (MER 5.5). It needs no cost in advance, so a runtime could do the same.
//
// Plans the groups, which depend on when the channel is free, for any cost. O(items).
[[nodiscard]] Plan plan_eager(const Problem& problem, const ScheduleOptions& options);

// Tries all 2^(n-1) merges of n gradients into contiguous runs (MER 5.6): a reference for tests,
// and a schedule for scenarios with few gradients.

inline constexpr std::int64_t kMaxExhaustiveItems = 20; // items with bytes

// Returns the best plan; at equal finish the one with the fewest groups, then with the
// lexicographically smallest list of first items. Throws UsageError for more than
// kMaxExhaustiveItems. O(2^items).
[[nodiscard]] Plan plan_exhaustive(const Problem& problem, const ScheduleOptions& options);

// ASC-WFBP: merging for a channel that carries several messages at once (MER 6.1).

// Merges for `concurrency` messages at once; needs a linear cost. A local search, which can miss
// the best plan: each round evaluates one plan per item, and rounds continue while the plan
// improves.
[[nodiscard]] Plan plan_asc_wfbp(const Problem& problem, const ScheduleOptions& options);

// Sends at most `concurrency` messages at once, in launch order; while k messages move data, each
// takes 1 + contention (k - 1) times as long (MER 6.1). With a contention of 1 they share
// the rate of one message equally, so that a channel without start-ups is as long busy as with one
// message at a time.
void send_at_once(const Sending& sending, const SendInput& input, SendTimes& times);

// Returns, for example, "2 all-reduces at once move 1.33 times the bandwidth of one", or "2
// all-reduces at once share the bandwidth of one" if they gain nothing.
[[nodiscard]] std::string asc_wfbp_settings(const ScheduleOptions& options);

// DeAR (MER 6.3): the reduce-scatters of the buckets overlap backward, and their all-gathers
// overlap the next forward.
//
// Groups whole layers: a group has dear_layers layers or, if that is empty, as many as together
// have less than bucket_bytes, at least one. O(items).
[[nodiscard]] Plan plan_dear(const Problem& problem, const ScheduleOptions& options);

// Returns "groups of 25 MiB; all-gather overlaps the next forward".
[[nodiscard]] std::string dear_settings(const ScheduleOptions& options);

// Schedules `trace`, one message per bucket that the trace was measured with, and `groups`, one per
// list of layers that the scenario gives.
//
// Every item must have a bucket, measured or given (asserted). As with ddp, buckets are launched in
// the order of their numbers: no bucket is sent before all earlier buckets are ready. O(items log
// items).
[[nodiscard]] Plan plan_trace(const Problem& problem, const ScheduleOptions& options);

// Returns "mine: 3 groups of layers".
[[nodiscard]] std::string groups_settings(const ScheduleOptions& options);

// A given number of contiguous buckets with bytes as equal as possible (least sum of squares),
// whatever the messages cost: the result of tuning a bucket size by hand, and a baseline for
// planners that use the cost.

// Its number in Schedule, after those in planners.hpp.
inline constexpr Schedule kFixedCount{100};

inline constexpr std::int64_t kMostBuckets = 1000; // memory grows as buckets x items

// Returns at most `options.buckets` groups; fewer if there are fewer items. O(buckets x items x log
// items).
[[nodiscard]] Plan plan_fixed_count(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::buckets
