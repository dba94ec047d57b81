#pragma once
// Writes a timeline as Chrome trace event JSON (opens in Perfetto and chrome://tracing; IO 11):
//   {"displayTimeUnit": "ms", "traceEvents": [M names ..., X spans ..., s/f arrows ..., C
//   counters]}
// pid = node, tid = lane, ts and dur in microseconds with three decimals. Start and end are rounded
// to whole nanoseconds each, so that spans that nest or are disjoint stay so. The text is made and
// handed over in blocks; memory does not grow with the number of spans.
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "engine/timeline.hpp"

namespace stepsim::io {

using Sink = std::function<void(std::string_view block)>;

// Throws SimulationError where a time does not fit the format (from 9e9 s on). All times >= 0.
void write_timeline(const engine::Timeline &timeline, const Sink &sink);

// gzip in front of a sink: what is given to `write` arrives there compressed.
class GzipWriter {
public:
  explicit GzipWriter(Sink sink);
  GzipWriter(const GzipWriter &) = delete;
  GzipWriter &operator=(const GzipWriter &) = delete;
  ~GzipWriter();

  void write(std::string_view block);
  void finish(); // the end of the stream; nothing may be written after it

private:
  struct Stream;
  void deflate_all(std::string_view block, int flush);
  Sink sink_;
  std::unique_ptr<Stream> stream_;
};

} // namespace stepsim::io
