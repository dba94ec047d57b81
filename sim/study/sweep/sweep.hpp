#pragma once
// Runs a sweep. Threads take points from one counter and run each point as a separate scenario.
// Records are written in point order through a bounded window, so that memory does not grow with
// the number of points, and the file does not depend on the number of threads.
//
//     workers   [point 4][point 5]     ...     finished, waiting for their turn: [3]
//     writer    header, 0, 1, 2        <- next
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "run/work_estimate.hpp"
#include "study/sweep/shard.hpp"
#include "study/sweep/sweep_file.hpp"
#include "study/sweep/sweep_output.hpp"
#include "study/sweep/sweep_records.hpp"

namespace stepsim::study {

// What happens if the output exists already. refuse: an error. overwrite: it is emptied and written
// anew, so that its old content is lost even if the sweep is interrupted.
// resume: its failed points are run again, and then the points after its last complete record.
enum class IfExists { refuse, overwrite, resume };

struct SweepOptions {
  std::string output; // name of the file; "-" = standard output
  RecordFormat format = RecordFormat::jsonl;
  std::vector<std::string> columns; // the figures of a record; all if empty
  IfExists if_exists = IfExists::refuse;
  Shard shard;
  int jobs = 1;                     // number of threads
  std::string tool;                 // name and version for the header: "stepsim 0.1.0"
  double max_seconds = kMaxSeconds; // a point whose estimated CPU time is larger fails
  // Called between points. If it returns true, the sweep ends with the points finished so far. May
  // be empty.
  std::function<bool()> interrupted;
  // Called from the calling thread, before the first point and after records were written, with the
  // number of points done and of all points of the shard. Points of an earlier, resumed run count
  // as done. May be empty.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

// The report of a sweep; all counts are numbers of points.
struct SweepReport {
  std::int64_t points = 0;         // points of this shard
  std::int64_t resumed = 0;        // points that an earlier run had finished
  std::int64_t failed = 0;         // records with status error, in the whole file
  std::int64_t fitting = 0;        // points of this run of which no GPU is known to be too small
  std::size_t missing_threads = 0; // threads of `jobs` that the system could not start
  bool interrupted = false;
  std::string first_error;                      // error of the first failed point of this run
  std::map<std::string, std::int64_t> warnings; // text -> number of points of this run
};

// Runs the sweep and writes options.output. Throws
//   UsageError       the output exists and is refused
//   InputError       the file to resume is from another sweep, or none of a sample of points can be
//                    parsed
//   SimulationError  the output cannot be written
SweepReport run_sweep(const Sweep& sweep, Files& files, const SweepOptions& options);
// Runs the sweep and appends header and records to `text`.
// `if_exists` is ignored; names in the header are relative to the folder of `output`.
SweepReport run_sweep(const Sweep& sweep, Files& files, const SweepOptions& options,
                      std::string& text);

} // namespace stepsim::study
