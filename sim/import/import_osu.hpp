#pragma once
// Imports logs of the OSU micro-benchmarks (IO 7, MER 9): rows
// `bytes  average_us [min_us max_us ...]` below `# OSU MPI Allreduce Latency Test v7.5`, or two
// columns without a title. Rows that failed validation are left out, with a warning. The time of a
// non-blocking test is that of its column `Pure Comm.(us)`. The size may include the ranks
// ("8,4096"). Other lines are skipped if there is a title, else they are errors.

#include "scenario/files/import_source.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::io {

enum class OsuValue { average, min, max };

// Options that complete the log.
struct OsuOptions {
  ImportOptions common;
  // One of kSampleOps: which of several tables, or what a title does not say. Default: the title's.
  std::optional<std::string> op;
  // Number of ranks if the rows do not give it; rows with another number are an error. A ping-pong
  // test has 2 whatever is given.
  std::optional<std::int64_t> ranks;
  OsuValue value = OsuValue::average;
};

struct OsuPoint {
  Bytes bytes;         // as printed: of one part, for all-gathers and all-to-alls
  Seconds time;        // > 0; the log has microseconds
  std::int64_t line{}; // line of the log
};

struct OsuLog {
  std::string file;    // path or "<stdin>", for error messages
  std::string name;    // name for results
  std::string op;      // "allreduce"
  std::string library; // "mpi", "nccl"
  std::int64_t ranks{};
  std::vector<OsuPoint> points;      // at least one, in the order of the log
  std::vector<std::string> warnings; // what was left out
  layers::Source source;
};

// Throws InputError for a log without rows, with rows of several tests that `op` does not tell
// apart, or of bandwidth or one-sided tests only, for a row without the requested time or with a
// time out of range, for an unknown operation, and for an unknown or varying number of ranks.
[[nodiscard]] OsuLog import_osu(const std::string& file, const OsuOptions& options);

// The points as samples of the library's choice of algorithm, one per row, with the bytes of the
// whole buffer.
[[nodiscard]] Samples samples_of(const OsuLog& log);

// The points with bytes > 0 as a cost table named like the log, bytes of the whole buffer
// ascending. Throws InputError
// for a size > 0 that appears twice and for fewer than two sizes > 0.
[[nodiscard]] CostPoints cost_of(const OsuLog& log);

} // namespace stepsim::io
