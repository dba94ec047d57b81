#pragma once
// The table of schedules: what exists, and one call to run any of them. Adding one = one .cpp with
// a function `Plan plan_NAME(const Problem&, const ScheduleOptions&)`, declared in schedules.hpp,
// and one row in planners.cpp. The row also names how its messages travel (sending.hpp): one at a
// time for most.
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/words.hpp"
#include "plan/problem.hpp"

namespace stepsim::plan {

enum class Schedule {
  wfbp,
  single,
  ddp,
  horovod,
  mg_wfbp,
  mg_wfbp_small_tensors,
  optimal,
  eager,
  exhaustive,
  asc_wfbp,
  priority,
  dear,
  omgs,
  trace,
  fixed_count,
};

inline constexpr Bytes kDefaultBucketBytes{25 * 1024 * 1024};

inline constexpr std::int64_t kMaxExhaustiveItems = 20; // items with bytes

inline constexpr std::int64_t kMostBuckets = 1000; // of fixed_count: its table grows with them

// Chunks that `priority` may cut one iteration's gradients into; each is a message of the result.
inline constexpr std::int64_t kMaxChunks = 1'000'000;

enum class DdpMode { rebuilt, first_iteration, unused_parameters, last_small };
enum class PriorityPreset { bytescheduler, p3, tictac };
enum class Prefetch { all, one };
inline constexpr auto kDdpModes =
    base::words<DdpMode>({{DdpMode::rebuilt, "rebuilt"},
                          {DdpMode::first_iteration, "first_iteration"},
                          {DdpMode::unused_parameters, "unused_parameters"},
                          {DdpMode::last_small, "last_small"}});
inline constexpr auto kPriorityPresets =
    base::words<PriorityPreset>({{PriorityPreset::bytescheduler, "bytescheduler"},
                                 {PriorityPreset::p3, "p3"},
                                 {PriorityPreset::tictac, "tictac"}});
inline constexpr auto kPrefetches =
    base::words<Prefetch>({{Prefetch::all, "all"}, {Prefetch::one, "one"}});

// Keys of `communication` beside `schedule` (MER 5). A key is read by the schedules named with it.
struct ScheduleOptions {
  Bytes bucket_bytes = kDefaultBucketBytes; // ddp, dear; >= 1
  // ddp, >= 1; 1 MiB where bucket_bytes has its default value, else bucket_bytes
  std::optional<Bytes> first_bucket_bytes;
  DdpMode ddp_mode = DdpMode::rebuilt;
  Bytes fusion_bytes{128 * 1024 * 1024}; // horovod, >= 0; 0 = no fusion
  Seconds cycle{1e-3};                   // horovod, >= 0
  Seconds phase{0};                      // horovod; first tick, from the start of backward
  bool blocking = false;                 // horovod
  std::int64_t concurrency = 2;          // asc_wfbp, >= 1
  double contention = 0.5;               // asc_wfbp, >= 0
  PriorityPreset preset = PriorityPreset::bytescheduler; // priority
  // priority, >= 1; with the defaults of a preset filled in by `with_preset`. Empty = unlimited.
  std::optional<Bytes> partition_bytes = Bytes{4'000'000};
  Bytes credit_bytes{16'000'000};
  std::optional<std::int64_t> dear_layers; // dear, >= 1: layers per group instead of bucket_bytes
  Prefetch prefetch = Prefetch::all;       // dear
  std::int64_t buckets = 4;                // fixed_count, >= 1
};

// Partition and credit of a preset, in bytes of parameters of `element_bytes` (MER 6.2).
[[nodiscard]] ScheduleOptions with_preset(ScheduleOptions options, PriorityPreset preset,
                                          std::int64_t element_bytes);

// What is wrong where gradients of these sizes make more chunks than kMaxChunks; empty otherwise.
[[nodiscard]] std::optional<std::string> too_many_chunks(std::span<const Bytes> bytes,
                                                         const ScheduleOptions& options);

struct Sending;
struct SendInput;
struct SendTimes;

enum class Needs : std::uint8_t {
  cost,            // any
  linear_cost,     // start-up and data must be separable (MER D18)
  linear_forward,  // also forward times: times of its plans mean nothing alone
  forward,         // any cost
  selection_costs, // of a sparse compression: no planner of this table (omgs.hpp)
  buckets,         // a measured bucket of every item with bytes
};

struct Planner {
  Schedule schedule;
  std::string_view name;
  std::string_view summary; // one line for --help
  Plan (*run)(const Problem&, const ScheduleOptions&);
  std::span<const std::string_view> keys; // option keys that have a meaning for it
  void (*send)(const Sending&, const SendInput&, SendTimes&);
  Needs needs = Needs::cost;

  [[nodiscard]] bool needs_linear_cost() const {
    return needs == Needs::linear_cost || needs == Needs::linear_forward;
  }
  [[nodiscard]] bool needs_forward() const {
    return needs != Needs::cost && needs != Needs::linear_cost && needs != Needs::buckets;
  }
  // Whether the option has a meaning for it.
  [[nodiscard]] bool has(std::string_view key) const;
  // One message at a time, in the order of the buckets.
  [[nodiscard]] bool one_channel() const;
  // Every message has an all-gather of its own in the next forward pass.
  [[nodiscard]] bool gathers_back() const;
  // Its messages can go through a simulated network.
  [[nodiscard]] bool fits_networks() const;
  // Problem files give neither forward times nor measured buckets.
  [[nodiscard]] bool fits_problem_files() const {
    return !needs_forward() && needs != Needs::buckets;
  }
};

// The planners themselves, one .cpp each.
Plan plan_wfbp(const Problem& problem, const ScheduleOptions& options);
Plan plan_single(const Problem& problem, const ScheduleOptions& options);
Plan plan_ddp(const Problem& problem, const ScheduleOptions& options);
Plan plan_horovod(const Problem& problem, const ScheduleOptions& options);
Plan plan_mg_wfbp(const Problem& problem, const ScheduleOptions& options);
Plan plan_mg_wfbp_small_tensors(const Problem& problem, const ScheduleOptions& options);
Plan plan_optimal(const Problem& problem, const ScheduleOptions& options);
Plan plan_eager(const Problem& problem, const ScheduleOptions& options);
Plan plan_exhaustive(const Problem& problem, const ScheduleOptions& options);
Plan plan_asc_wfbp(const Problem& problem, const ScheduleOptions& options);
Plan plan_priority(const Problem& problem, const ScheduleOptions& options);
Plan plan_dear(const Problem& problem, const ScheduleOptions& options);
Plan plan_trace(const Problem& problem, const ScheduleOptions& options);
Plan plan_fixed_count(const Problem& problem, const ScheduleOptions& options);
void send_in_order(const Sending& sending, const SendInput& input, SendTimes& times);
void send_at_once(const Sending& sending, const SendInput& input, SendTimes& times);
void send_by_priority(const Sending& sending, const SendInput& input, SendTimes& times);
void send_dear(const Sending& sending, const SendInput& input, SendTimes& times);

inline constexpr std::array<std::string_view, 3> kDdpKeys{"bucket_bytes", "first_bucket_bytes",
                                                          "ddp_mode"};
inline constexpr std::array<std::string_view, 4> kHorovodKeys{"fusion_bytes", "cycle_s", "phase_s",
                                                              "blocking"};

inline constexpr std::array<std::string_view, 2> kAtOnceKeys{"concurrency", "contention"};
inline constexpr std::array<std::string_view, 3> kPriorityKeys{"preset", "partition_bytes",
                                                               "credit_bytes"};
inline constexpr std::array<std::string_view, 1> kFixedCountKeys{"buckets"};
inline constexpr std::array<std::string_view, 3> kDearKeys{"bucket_bytes", "dear_layers",
                                                           "prefetch"};

inline constexpr auto kPlanners = std::to_array<Planner>({
    {Schedule::wfbp,
     "wfbp",
     "one message per gradient, as soon as it is ready",
     plan_wfbp,
     {},
     send_in_order},
    {Schedule::single, "single", "one message after backward", plan_single, {}, send_in_order},
    {Schedule::ddp, "ddp", "PyTorch DDP: buckets of about bucket_bytes", plan_ddp, kDdpKeys,
     send_in_order},
    {Schedule::horovod, "horovod", "Horovod: what is ready at each cycle, up to fusion_bytes",
     plan_horovod, kHorovodKeys, send_in_order},
    {Schedule::mg_wfbp, "mg_wfbp", "the published MG-WFBP greedy", plan_mg_wfbp, {}, send_in_order},
    {Schedule::mg_wfbp_small_tensors,
     "mg_wfbp_small_tensors",
     "MG-WFBP that also merges below 8192 elements",
     plan_mg_wfbp_small_tensors,
     {},
     send_in_order},
    {Schedule::optimal,
     "optimal",
     "the best merge for one channel",
     plan_optimal,
     {},
     send_in_order},
    {Schedule::eager,
     "eager",
     "never wait: send everything ready when the channel is free",
     plan_eager,
     {},
     send_in_order},
    {Schedule::exhaustive,
     "exhaustive",
     "every contiguous merge, up to 20 gradients",
     plan_exhaustive,
     {},
     send_in_order},
    {Schedule::asc_wfbp, "asc_wfbp", "ASC-WFBP: several messages at once", plan_asc_wfbp,
     kAtOnceKeys, send_at_once, Needs::linear_cost},
    {Schedule::priority, "priority", "P3, ByteScheduler: chunks, first layers first", plan_priority,
     kPriorityKeys, send_by_priority, Needs::linear_forward},
    {Schedule::dear, "dear", "DeAR: reduce-scatter in backward, all-gather in the next forward",
     plan_dear, kDearKeys, send_dear, Needs::forward},
    {Schedule::omgs,
     "omgs",
     "OMGS-SGD: merges sparse layers",
     nullptr,
     {},
     send_in_order,
     Needs::selection_costs},
    {Schedule::trace,
     "trace",
     "the buckets that the trace was measured with",
     plan_trace,
     {},
     send_in_order,
     Needs::buckets},
    {Schedule::fixed_count, "fixed_count", "a given number of buckets of about equal bytes",
     plan_fixed_count, kFixedCountKeys, send_in_order},
});

[[nodiscard]] std::span<const Planner> planners();
// Null if there is no such name.
[[nodiscard]] const Planner* find_planner(std::string_view name);
[[nodiscard]] const Planner& planner(Schedule schedule);

// Items of 0 bytes are taken out, the planner runs, all times are computed forward from its groups
// (`replay_groups`), and the empty items are put back into the group of the next item with bytes
// (MER 5, common rules). The problem must be valid: ready times non-decreasing, bytes >= 0; without
// items the plan is empty. Where the schedule needs forward times the groups have no start and end,
// and the finish is the last ready time. Throws UsageError for `exhaustive` with more than 20 items
// with bytes, for a cost that is not linear where it must be, for too many chunks, and for `omgs`.
[[nodiscard]] Plan make_plan(const Problem& problem, Schedule schedule,
                             const ScheduleOptions& options = {});

// Lower bound of `finish` over all contiguous groupings: max(r_n + T(p_n), max(F_0, r_1) + T(S_n));
// the second term only where the cost is known to be sub-additive. Source: MER 3 (derived).
[[nodiscard]] Seconds finish_lower_bound(const Problem& problem);

// Lower bound of `finish` over all contiguous groupings, linear cost, with `concurrency` messages
// at once: data moves at most at k / (1 + contention (k - 1)) times the rate of one, k <= K.
// Source: MER 3 (derived).
[[nodiscard]] Seconds finish_lower_bound_at_once(const Problem& problem,
                                                 const ScheduleOptions& options);
// min over k <= concurrency of (1 + contention (k - 1)) / k.
[[nodiscard]] double least_slowdown(const ScheduleOptions& options);

// No waiting merge and a linear cost: the published greedy is then optimal. Source: MER 8, fact 4.
[[nodiscard]] bool certified_optimal(const Problem& problem, const Plan& mg_wfbp_plan);

} // namespace stepsim::plan
