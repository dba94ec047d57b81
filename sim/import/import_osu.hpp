#pragma once
// Imports logs of the OSU micro-benchmarks (IO 7, MER 9): rows
// `bytes  average_us [min_us max_us ...]` below `# OSU MPI Allreduce Latency Test v7.5`, or two
// columns without a title. The size may include the ranks ("8,4096"). Other lines between the rows
// are skipped if there is a title, else they are errors.

#include "scenario/files/cost_file.hpp"
#include "scenario/files/import_source.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::io {

enum class OsuValue { average, min, max };

// Options that complete the log; `op` goes before its title.
struct OsuOptions {
  ImportOptions common;
  std::optional<std::string> op; // one of kSampleOps; default: from the title
  // Number of ranks if the rows do not give it; rows with another number are an error. Default: 2
  // for a ping-pong test.
  std::optional<std::int64_t> ranks;
  OsuValue value = OsuValue::average;
};

struct OsuPoint {
  Bytes bytes;         // as printed: of one part, for all-gathers and all-to-alls
  Seconds time;        // > 0; the log has microseconds
  std::int64_t line{}; // line of the log
};

struct OsuLog {
  std::string file; // path or "<stdin>", for error messages
  std::string name; // name for results
  std::string op;   // "allreduce"
  std::int64_t ranks{};
  std::vector<OsuPoint> points; // at least one, in the order of the log
  layers::Source source;
};

// Throws InputError for a log without rows, a row without the requested time or with a time out of
// range, an unknown operation, an unknown or varying number of ranks, and a bandwidth test.
[[nodiscard]] OsuLog import_osu(const std::string& file, const OsuOptions& options);

// The points as samples of the algorithm `mpi`, one per row, with the bytes of the whole buffer.
[[nodiscard]] Samples samples_of(const OsuLog& log);

// The points with bytes > 0 as a cost table named like the log, bytes of the whole buffer
// ascending. Throws InputError
// for a size > 0 that appears twice and for fewer than two sizes > 0.
[[nodiscard]] CostPoints cost_of(const OsuLog& log);

} // namespace stepsim::io
