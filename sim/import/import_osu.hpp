#pragma once
// Logs of the OSU micro-benchmarks (IO 7, MER 9): rows `bytes  average_us [min_us max_us ...]`
// below `# OSU MPI Allreduce Latency Test v7.5`, or bare two columns. The size may carry the ranks
// ("8,4096"). With a title, log lines between the rows are skipped; without, they are errors.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "files/cost_file.hpp"
#include "files/import_options.hpp"
#include "files/samples_file.hpp"
#include "train/workload/trace.hpp"

namespace stepsim::io {

enum class OsuValue { average, min, max };

// What the log does not say, or says otherwise.
struct OsuOptions {
  ImportOptions common;
  std::optional<std::string> op; // of kSampleOps; default: from the title
  // Where the rows do not carry them; default: 2 for a ping-pong test.
  std::optional<std::int64_t> ranks;
  OsuValue value = OsuValue::average;
};

// Sizes are bytes as printed; times are microseconds in the log and seconds in the result.
struct OsuPoint {
  Bytes bytes;
  Seconds time;        // > 0
  std::int64_t line{}; // in the log
};

struct OsuLog {
  std::string file; // for messages
  std::string name; // of results
  std::string op;   // "allreduce"
  std::int64_t ranks{};
  std::vector<OsuPoint> points; // at least one, in the order of the log
  train::Source source;
};

// Throws InputError: no rows, a row without the time that is asked for or with one out of range,
// operation unknown, ranks unknown or different, a bandwidth test.
[[nodiscard]] OsuLog import_osu(const std::string& file, const OsuOptions& options);

// The points as times of the algorithm `mpi`, one sample per row.
[[nodiscard]] Samples samples_of(const OsuLog& log);

// The points with bytes > 0 as a cost table, in ascending order of bytes, named like the log.
// Throws InputError for a size > 0 that appears twice and for fewer than two sizes > 0.
[[nodiscard]] CostPoints cost_of(const OsuLog& log);

} // namespace stepsim::io
