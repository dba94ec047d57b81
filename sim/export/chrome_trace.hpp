#pragma once
// Writes a timeline as Chrome trace event JSON (opens in Perfetto and chrome://tracing; IO 11):
//   {"displayTimeUnit": "ms", "traceEvents": [M names ..., X spans ..., s/f arrows ..., C
//   counters]}
// pid = node, tid = lane, ts and dur in microseconds with three decimals. Start and end are rounded
// to whole nanoseconds each, so that spans that nest or are disjoint stay so. The text is made and
// handed over in blocks; memory does not grow with the number of spans.
#include <functional>
#include <string_view>

#include "engine/timeline.hpp"

namespace stepsim::io {

using Sink = std::function<void(std::string_view block)>;

// Throws SimulationError where a time does not fit the format (from 9e9 s on). All times >= 0.
void write_timeline(const engine::Timeline& timeline, const Sink& sink);

} // namespace stepsim::io
