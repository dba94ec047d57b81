#pragma once
// The table of schedules, and make_plan(), which runs any of them. A new schedule needs a .cpp and
// a header with a function `Plan plan_NAME(const Problem&, const ScheduleOptions&)`, and one row in
// planners.cpp. The row also names the discipline by which its messages are sent (sending.hpp),
// which for most schedules is one at a time.
//
// A planner gets one or more items, all of them with bytes > 0. It decides the groups and the
// earliest start of each group (`ready`); replay_groups() computes all other times.

#include "buckets/planner_options.hpp"
#include "buckets/problem.hpp"

namespace stepsim::buckets {

// The number of a schedule, by which its row is found. The enum lists the schedules that other
// files refer to. Any other schedule defines its number, from 100 on, in its own header, as
// schedules.hpp does, so that adding a schedule changes only its files and the table.
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
  caps,
  groups,
};

struct Sending;
struct SendInput;
struct SendTimes;

// What a planner needs to know. Schedules with linear_forward or forward send messages in the next
// forward pass as well; make_plan() does not know that pass, and only decides their groups.
enum class Needs : std::uint8_t {
  cost,            // a cost function of messages, of any form
  linear_cost,     // a cost whose start-up and data can be told apart (MER D18)
  linear_forward,  // such a cost, and the times of the next forward pass
  forward,         // any cost, and the times of the next forward pass
  selection_costs, // the selection times of a sparse compression; omgs.hpp plans, not make_plan()
  buckets,         // a measured bucket of every item with bytes
  layers,          // a group of layers for every item with bytes
};

struct Planner {
  Schedule schedule;
  std::string_view name;
  std::string_view summary;                                   // one line for --help
  Plan (*run)(const Problem&, const ScheduleOptions&);        // null for omgs (omgs.hpp)
  std::span<const std::string_view> keys;                     // option keys that it reads
  void (*send)(const Sending&, const SendInput&, SendTimes&); // how messages are sent
  Needs needs = Needs::cost;
  // The values of its options in words, such as "buckets of 25 MiB, the first of 1 MiB"; null if
  // the summary says enough.
  std::string (*settings)(const ScheduleOptions&) = nullptr;
  // Whether `compare --algorithms all` runs it. Schedules that need more keys, and variants of a
  // schedule that is compared, are left out.
  bool compared = false;
  bool reads_cost = false; // whether the buckets depend on the cost of messages

  [[nodiscard]] bool needs_linear_cost() const {
    return needs == Needs::linear_cost || needs == Needs::linear_forward;
  }
  // Whether it needs layers and not only gradients, for their forward times or selection costs.
  [[nodiscard]] bool needs_forward() const {
    return needs != Needs::cost && needs != Needs::linear_cost && !has_buckets();
  }
  // Whether its messages are those that the items name.
  [[nodiscard]] bool has_buckets() const {
    return needs == Needs::buckets || needs == Needs::layers;
  }
  // Whether the planner reads the option `key`.
  [[nodiscard]] bool has(std::string_view key) const;
  // Whether the buckets depend on the cost of messages with these options.
  [[nodiscard]] bool plans_by_cost(const ScheduleOptions& options) const {
    return reads_cost && (schedule != Schedule::horovod || options.blocking);
  }
  // Whether several messages may be under way at once: with asc_wfbp always, with others that have
  // the option `concurrency` where it is above 1.
  [[nodiscard]] bool shares_channel(const ScheduleOptions& options) const;
  // How messages are sent with these options: `send`, or several at once.
  [[nodiscard]] auto sender(const ScheduleOptions& options) const -> decltype(send);
  // Whether messages are sent one at a time, in the order of the buckets, and whole.
  [[nodiscard]] bool one_channel(const ScheduleOptions& options) const;
  // The summary, or the values of the options in words.
  [[nodiscard]] std::string described(const ScheduleOptions& options) const;
  // Whether every message is followed by its own all-gather in the next forward pass.
  [[nodiscard]] bool gathers_back() const { return schedule == Schedule::dear; }
  // Whether its messages can go through a simulated network.
  [[nodiscard]] bool fits_networks() const;
  // Whether it can plan a problem file, which has neither forward times nor measured buckets.
  [[nodiscard]] bool fits_problem_files() const { return !needs_forward() && !has_buckets(); }
};

[[nodiscard]] std::span<const Planner> planners();
// Returns the row of the schedule with this name; null if there is none.
[[nodiscard]] const Planner* find_planner(std::string_view name);
[[nodiscard]] const Planner& planner(Schedule schedule);
// The options that the planner has by default: two messages at once and a contention of 0.5, the
// authors' fit, for asc_wfbp (MER 6.1).
[[nodiscard]] ScheduleOptions default_options(const Planner& planner);

// The plan of `problem` by `schedule`: runs the planner on the items with bytes > 0, computes all
// times from its groups by replay_groups(), and then adds every item of 0 bytes to the group of the
// next item with bytes, or to the last group (MER 5, common rules). `problem` must be valid
// (asserted): ready times non-decreasing, bytes >= 0. If no item has bytes, the plan has no groups
// and a warning. A schedule that needs forward times gets groups without start and end, and the
// last ready time as finish.
// Throws UsageError for `exhaustive` with more than 20 items with bytes, for a cost that is not
// linear if the schedule needs a linear one, for `priority` with too many chunks, and for `omgs`.
[[nodiscard]] Plan make_plan(const Problem& problem, Schedule schedule,
                             const ScheduleOptions& options = {});

} // namespace stepsim::buckets
