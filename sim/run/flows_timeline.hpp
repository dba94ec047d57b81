#pragma once
// Draws a list of flows as a timeline: one span per flow at its source, and counters of the flows
// in flight on the busiest links.
#include "events/timeline.hpp"
#include "run/flows_run.hpp"

namespace stepsim::study {

// The timeline of `result`. Its nodes are the nodes of the fabric, by number; times are seconds
// from the start of the run. Flows whose completion time is missing or 0 have no span.
[[nodiscard]] events::Timeline flows_timeline(const FlowsFile& file, const FlowsResult& result);

} // namespace stepsim::study
