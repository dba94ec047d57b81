#pragma once
// Draws a run as a timeline: compute and messages of every worker, and the busiest links.

#include "events/timeline.hpp"
#include "run/result.hpp"

namespace stepsim::study {

struct TimelineFilter {
  std::vector<std::int64_t> nodes; // nodes to draw, which must exist (not checked); empty = first 8
  std::int64_t first_iteration = -1; // from 0; -1 = the third from the end
  std::int64_t last_iteration = -1;  // included; -1 = the last iteration
};
[[nodiscard]] events::Timeline timeline(const Result& result, const TimelineFilter& filter);

// The same for a program without a scenario, whose ranks take the place of nodes. `run` holds the
// times of all operations (programs::Record::all).
[[nodiscard]] events::Timeline timeline(const ProgramRun& run, const TimelineFilter& filter);

// The timeline of a run that was evaluated as a program (programs/training_program.hpp): one track
// per stream, one span per operation.

// Adds counters to the timelines of runs and of lists of flows, which show the use of links over
// time. Times are seconds from the start of the run.

struct LinkChange {
  double time_s{};
  double by{}; // added to the counter at time_s
};

// Adds a counter with one point per instant at which it changes. `changes` may be in any order.
void add_counter(std::uint32_t node, const std::string& name, std::vector<LinkChange> changes,
                 events::Timeline& timeline);

// Adds counters for the busiest links of a run in the iterations first .. last (from 0, both
// included), under a new node "network" of the timeline. If the run simulates every message, they
// count messages in flight; otherwise they show the part of the capacity that exchanges take, in
// percent, which is known only if all iterations are copies of one step. Adds no counter if it is
// not known, or if the run has no links.
void add_link_counters(const Result& result, std::int64_t first, std::int64_t last,
                       events::Timeline& timeline);

} // namespace stepsim::study
