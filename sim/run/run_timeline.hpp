#pragma once
// Draws a run as a timeline: compute and messages of every worker, and the busiest links.
#include <cstdint>
#include <vector>

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

} // namespace stepsim::study
