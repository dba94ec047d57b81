#pragma once
// Writes a timeline as Chrome trace event JSON (opens in Perfetto and chrome://tracing; IO 11):
//   {"displayTimeUnit": "ms", "traceEvents": [M names ..., X spans ..., s/f arrows ..., C
//   counters]}
// pid is the node, tid the lane; ts and dur are microseconds with three decimals. Starts and ends
// are rounded to whole nanoseconds, so that nested spans remain nested and disjoint spans disjoint.
// The text is passed to the sink in blocks; memory does not grow with the number of spans.
#include <functional>
#include <string_view>

#include "events/timeline.hpp"

namespace stepsim::plot {

using Sink = std::function<void(std::string_view block)>;

// Writes the timeline to `sink`. All times must be >= 0. Throws SimulationError for times of 9e9 s
// and more, which do not fit the format.
void write_timeline(const events::Timeline& timeline, const Sink& sink);

} // namespace stepsim::plot
