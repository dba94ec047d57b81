#pragma once
// Running a sweep: threads take points from one counter, each point is a scenario run on its own,
// and the records leave in point order through a bounded window, so that memory does not grow with
// the number of points and the file is the same with 1 thread or 8.
//
//     workers   [point 4][point 5]     ...     finished, waiting for their turn: [3]
//     writer    header, 0, 1, 2        <- next
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "run/work_estimate.hpp"
#include "sweep/shard.hpp"
#include "sweep/sweep_file.hpp"
#include "sweep/sweep_output.hpp"
#include "sweep/sweep_records.hpp"

namespace stepsim::study {

// What happens to an output that is there already: an error, a new file in its place, or going on:
// its failed points are run again, then the points behind its last complete record.
enum class IfExists { refuse, overwrite, resume };

struct SweepOptions {
  std::string output; // file; "-" = standard output
  RecordFormat format = RecordFormat::jsonl;
  IfExists if_exists = IfExists::refuse;
  Shard shard;
  int jobs = 1;                     // threads
  std::string tool;                 // "stepsim 0.1.0", for the header
  double max_seconds = kMaxSeconds; // estimated CPU time of one point, above which it fails
  // Asked between points: true ends the sweep with what is finished. May be empty.
  std::function<bool()> interrupted;
  // Called from the calling thread before the first point and after records have been written:
  // points done and all points of the shard, those of an earlier run included. May be empty.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

// Counts are of points; threads share one mutex, which is taken a few times per chunk of points and
// not per point.
struct SweepReport {
  std::int64_t points = 0;         // of this shard
  std::int64_t resumed = 0;        // of them found finished
  std::int64_t failed = 0;         // records with status error, in the whole file
  std::size_t missing_threads = 0; // of `jobs`, for which the system had no room
  bool interrupted = false;
  std::string first_error;                      // of the first failed point of this run
  std::map<std::string, std::int64_t> warnings; // text -> points of this run
};

// Throws UsageError (output exists), InputError (resumed file is another sweep's; none of a sample
// of points can be parsed), SimulationError (write failed).
SweepReport run_sweep(const Sweep& sweep, Files& files, const SweepOptions& options);
// The same at the end of `text`: header and records. `if_exists` means nothing here, and `output`
// is only what names in the header are relative to.
SweepReport run_sweep(const Sweep& sweep, Files& files, const SweepOptions& options,
                      std::string& text);

} // namespace stepsim::study
