#pragma once
// Reads a PyTorch profiler trace (Kineto, Chrome trace events; IO 4.1) in one streaming pass: one
// JSON object with `traceEvents`, or a bare array of events. Only complete events (`ph` X) of the
// categories that the importer needs are kept; host, user, job and process names are never stored.
// Memory grows with the kept events only, not with the file.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "import/kineto/kineto_events.hpp"

namespace stepsim::io {

// The next piece of the text, valid until the next call; empty at the end.
using TextChunks = std::function<std::string_view()>;

// Throws InputError: syntax (`FILE:LINE:COL: ...`), no traceEvents, a time that is no number,
// negative or beyond 2^63 ns (`/traceEvents/17/dur: must be >= 0, got -3`).
[[nodiscard]] KinetoRecording read_kineto(const TextChunks& chunks, const std::string& file);

} // namespace stepsim::io
