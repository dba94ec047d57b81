#pragma once
// Reads a merge problem from a file (kind problem, MER 5): gradients in backward order with the
// times at which they are ready, from the start of the backward pass, and the cost of a message.
//   {"ready_s": [..], "bytes": [..], "cost": {"startup_s", "per_byte_s"} or {"table"} or FILE,
//    "channel_free_s"?, "copy_bandwidth_Bps"?, "forward_s"?, "planners"?: {NAME: {option: value}}}

#include "buckets/planners.hpp"
#include "scenario/files.hpp"

namespace stepsim::study {

struct ProblemFile {
  buckets::Problem problem;
  buckets::TableReport table;      // changes that made the table monotone
  std::string cost_warning;        // warning about a cost from a file (ChosenCost); "" = none
  std::optional<double> forward_s; // s; if given, plans have an iteration time, forward_s + finish
  std::vector<std::pair<buckets::Schedule, buckets::ScheduleOptions>> options; // from `planners`

  // The options of `planners`, else the defaults of the schedule.
  [[nodiscard]] buckets::ScheduleOptions options_of(buckets::Schedule schedule) const;
};

// Throws InputError with all problems (MER 12).
[[nodiscard]] ProblemFile parse_problem(const io::Json& tree, Files& files);

// The error for an unknown name: `unknown schedule "mgwfbp"; did you mean "mg_wfbp"?`
[[nodiscard]] std::string unknown_schedule(std::string_view name);
// The reason why a schedule cannot be in a problem file.
[[nodiscard]] std::string not_for_problem_files(const buckets::Planner& planner);

} // namespace stepsim::study
