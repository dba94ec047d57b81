#pragma once
// The table of planners: what exists, and one call to run any of them. Adding one = one .cpp with a
// function `Plan plan_NAME(const Problem&, const ScheduleOptions&)`, declared in schedules.hpp, and
// one row in planners.cpp.
#include <optional>
#include <span>
#include <string_view>

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
};

inline constexpr Bytes kDefaultBucketBytes{25 * 1024 * 1024};

inline constexpr std::int64_t kMaxExhaustiveItems = 20; // items with bytes

enum class DdpMode { rebuilt, first_iteration, unused_parameters, last_small };

// Keys of `communication` beside `schedule` (MER 5). A key is read by the schedules named with it.
struct ScheduleOptions {
  Bytes bucket_bytes = kDefaultBucketBytes; // ddp, >= 1
  // ddp, >= 1; 1 MiB where bucket_bytes has its default value, else bucket_bytes
  std::optional<Bytes> first_bucket_bytes;
  DdpMode ddp_mode = DdpMode::rebuilt;
  Bytes fusion_bytes{128 * 1024 * 1024}; // horovod, >= 0; 0 = no fusion
  Seconds cycle{1e-3};                   // horovod, >= 0
  Seconds phase{0};                      // horovod; first tick, from the start of backward
  bool blocking = false;                 // horovod
};

struct Planner {
  Schedule schedule;
  std::string_view name;
  std::string_view summary; // one line for --help
  Plan (*run)(const Problem&, const ScheduleOptions&);
  std::span<const std::string_view> keys; // option keys that have a meaning for it
};

[[nodiscard]] std::span<const Planner> planners();
// Null if there is no such name.
[[nodiscard]] const Planner* find_planner(std::string_view name);
[[nodiscard]] const Planner& planner(Schedule schedule);

// Items of 0 bytes are taken out, the planner runs, all times are computed forward from its groups
// (`replay_groups`), and the empty items are put back into the group of the next item with bytes
// (MER 5, common rules). The problem must be valid: ready times non-decreasing, bytes >= 0; without
// items the plan is empty. Throws UsageError for `exhaustive` with more than 20 items with bytes.
[[nodiscard]] Plan make_plan(const Problem& problem, Schedule schedule,
                             const ScheduleOptions& options = {});

// Lower bound of `finish` over all contiguous groupings: max(r_n + T(p_n), max(F_0, r_1) + T(S_n));
// the second term only where the cost is known to be sub-additive. Source: MER 3 (derived).
[[nodiscard]] Seconds finish_lower_bound(const Problem& problem);

// No waiting merge and a linear cost: the published greedy is then optimal. Source: MER 8, fact 4.
[[nodiscard]] bool certified_optimal(const Problem& problem, const Plan& mg_wfbp_plan);

} // namespace stepsim::plan
