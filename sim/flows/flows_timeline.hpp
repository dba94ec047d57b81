#pragma once
// A list of flows as a timeline: a span per flow at its source, and how many flows are under way on
// the links that are used most.
#include "engine/timeline.hpp"
#include "flows/flows_run.hpp"

namespace stepsim::study {

// Flows without a completion time, or with one of 0, have no span.
// Nodes are those of the fabric by number, times are seconds from the start of the run.
[[nodiscard]] engine::Timeline flows_timeline(const FlowsFile& file, const FlowsResult& result);

} // namespace stepsim::study
