#pragma once
// The schedule of a scenario: which gradients travel in one message (MER 5, 6), with its option
// keys and what it asks of the rest of the scenario.
#include <cstdint>

#include "plan/planners.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// The option keys of a schedule (MER 5, 6), beside `schedule` or in a problem's `planners`.
// `bytes_of_element`: presets count parameters.
[[nodiscard]] plan::ScheduleOptions parse_schedule_options(io::Fields& fields,
                                                           const ParseContext& context,
                                                           const plan::Planner& planner,
                                                           std::int64_t bytes_of_element = 4);
// What a scenario without `schedule` has: trace where the measured buckets of its trace hold all
// gradients, else ddp; single for training algorithms other than sync_sgd.
[[nodiscard]] plan::Schedule default_schedule(const Scenario& scenario);
// The buckets of every job's trace hold all its gradients: schedule trace can send them.
[[nodiscard]] bool has_measured_buckets(const Scenario& scenario);
// `schedule` with its keys; after workload and training are known.
void parse_schedule(io::Fields& fields, const ParseContext& context, Scenario& scenario);
// What the rest of the scenario must be for its schedule (MER 12); after everything else is known.
void check_schedule(const io::Json& tree, io::Problems& problems, const Scenario& scenario);

// Schedule asc_wfbp: `contention`, how much messages slow each other. The 0.5 of its authors was
// fitted to measured all-reduces, which leave a link idle, and stays where a curve gives the times.
// Where they follow from latency and bandwidth two at once share the link, 1, unless the scenario
// says otherwise; a value by which they move more than the link can gets a warning.
void resolve_contention(const io::Json& tree, Scenario& scenario);

} // namespace stepsim::study
