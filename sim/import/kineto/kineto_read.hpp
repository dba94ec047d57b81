#pragma once
// Reads a PyTorch profiler trace (Kineto, Chrome trace events; IO 4.1) in one streaming pass: one
// JSON object with `traceEvents`, or a bare array of events. Only complete events (`ph` X) of the
// categories that the importer needs are kept; host, user, job and process names are never stored.
// Above `most_events`, memory grows with the kinds of events only, not with their number.
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "import/kineto/kineto_events.hpp"

namespace stepsim::io {

struct KinetoReadOptions {
  // Bytes of the text that are in memory at a time, at least 1; more for an event that is longer.
  std::size_t window = std::size_t{256} << 10;
  // Largest number of events in memory; if there are more, all go to a temporary file.
  std::size_t most_events = std::size_t{1} << 19;
};

// The next piece of the text, valid until the next call; empty at the end.
using TextChunks = std::function<std::string_view()>;

// Throws InputError for wrong syntax (`FILE:LINE:COL: ...`), for a file without traceEvents, for an
// event or a string of more than 16 MiB, and for a time that is not a number, negative or above
// 2^63 ns (`/traceEvents/17/dur: must be >= 0, got -3`). Throws SimulationError as KinetoEventFile
// does. The events do not depend on the options.
[[nodiscard]] KinetoRecording read_kineto(const TextChunks& chunks, const std::string& file,
                                          const KinetoReadOptions& options = {});

} // namespace stepsim::io
