#pragma once
// The schedule of a scenario, that is, the gradients of each message (MER 5, 6), with its option
// keys and its requirements on the rest of the scenario.

#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads the option keys of a schedule (MER 5, 6), next to `schedule` or in `planners` of a problem.
// `bytes_of_element` converts sizes of presets, which are in parameters.
[[nodiscard]] buckets::ScheduleOptions parse_schedule_options(io::Fields& fields,
                                                              const ParseContext& context,
                                                              const buckets::Planner& planner,
                                                              std::int64_t bytes_of_element = 4);
// The schedule of a scenario without the key: single for training algorithms other than sync_sgd,
// unless rounds have islands; else trace if the measured buckets of its trace have all gradients,
// else ddp.
[[nodiscard]] buckets::Schedule default_schedule(const Scenario& scenario);
// Whether the measured buckets of every job's trace have all its gradients, so that schedule trace
// can send them.
[[nodiscard]] bool has_measured_buckets(const Scenario& scenario);
// Returns what the schedule is called: its own name, else its word.
[[nodiscard]] std::string schedule_name(const Communication& communication);
// Reads `schedule` with its keys; workload and training must be known.
void parse_schedule(io::Fields& fields, const ParseContext& context, Scenario& scenario);
// Checks the requirements of the schedule on the rest of the scenario, which must be known
// (MER 12).
void check_schedule(const io::Json& tree, io::Problems& problems, const Scenario& scenario);

// Sets `contention` of schedule asc_wfbp, how much messages slow each other. The default of its
// authors, 0.5, was fitted to measured all-reduces, which leave a link idle, and is kept if a curve
// gives the times. If latency and bandwidth give them, two messages share the link and the default
// is 1; a given value with which they move more data than the link can gets a warning.
void resolve_contention(const io::Json& tree, Scenario& scenario);

// Reads and writes the options of a schedule by the rows of keys/schedule_keys.hpp.

// Sets the keys of the planner to their values; an option without a value is left out, and so is
// bucket_bytes if dear_layers has one.
void add_schedule_options(const buckets::Planner& planner, const buckets::ScheduleOptions& options,
                          io::Json& tree);

} // namespace stepsim::study
