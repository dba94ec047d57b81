#pragma once
// The table of schedules: what exists, and one call to run any of them. Adding one = a .cpp and a
// header with a function `Plan plan_NAME(const Problem&, const ScheduleOptions&)`, and one row in
// planners.cpp. The row also names how its messages travel (sending.hpp): one at a time for most.
//
// A planner sees only items with bytes (at least one) and decides the groups and, for each, the
// time before which it must not start (`ready`); all other times follow in `replay_groups`.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "plan/planner_options.hpp"
#include "plan/problem.hpp"

namespace stepsim::plan {

// A row of the table. Here stand the schedules that other code names; any other is a constant in
// the header of its own file, from 100 on (fixed_count.hpp), so that a new one changes nothing but
// its files and the table.
enum class Schedule : std::uint8_t {
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
};

struct Sending;
struct SendInput;
struct SendTimes;

enum class Needs : std::uint8_t {
  cost,            // any
  linear_cost,     // start-up and data must be separable (MER D18)
  linear_forward,  // linear_cost and forward times: a plan alone has no times
  forward,         // any cost
  selection_costs, // of a sparse compression: no planner of this table (omgs.hpp)
  buckets,         // a measured bucket of every item with bytes
};

struct Planner {
  Schedule schedule;
  std::string_view name;
  std::string_view summary;                            // one line for --help
  Plan (*run)(const Problem&, const ScheduleOptions&); // null for omgs (omgs.hpp)
  std::span<const std::string_view> keys;              // option keys that have a meaning for it
  void (*send)(const Sending&, const SendInput&, SendTimes&);
  Needs needs = Needs::cost;
  // What the options make of it, in words: "buckets of 25 MiB, the first of 1 MiB"; null where
  // the summary says all.
  std::string (*settings)(const ScheduleOptions&) = nullptr;
  // One of those that `compare --algorithms all` lines up; the others need more keys, or are
  // variants of these.
  bool compared = false;
  // The buckets depend on the cost of messages.
  bool reads_cost = false;

  [[nodiscard]] bool needs_linear_cost() const {
    return needs == Needs::linear_cost || needs == Needs::linear_forward;
  }
  [[nodiscard]] bool needs_forward() const {
    return needs != Needs::cost && needs != Needs::linear_cost && needs != Needs::buckets;
  }
  // Whether the planner reads the option `key`.
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

[[nodiscard]] std::span<const Planner> planners();
// Null if there is no such name.
[[nodiscard]] const Planner* find_planner(std::string_view name);
[[nodiscard]] const Planner& planner(Schedule schedule);

// Items of 0 bytes are taken out, the planner runs, all times are computed forward from its groups
// (`replay_groups`), and every empty item is put back into the group of the next item with bytes,
// or of the last one (MER 5, common rules). The problem must be valid: ready times non-decreasing,
// bytes >= 0; without items the plan is empty. Where the schedule needs forward times the groups
// have no start and end, and the finish is the last ready time. Throws UsageError for `exhaustive`
// with more than 20 items with bytes, for a cost that is not linear where it must be, for too many
// chunks, and for `omgs`.
[[nodiscard]] Plan make_plan(const Problem& problem, Schedule schedule,
                             const ScheduleOptions& options = {});

} // namespace stepsim::plan
