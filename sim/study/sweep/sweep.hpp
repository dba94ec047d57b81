#pragma once
// Runs a sweep. Threads take points from one counter and run each point as a separate scenario.
// Records are written in point order through a bounded window, so that memory does not grow with
// the number of points, and the file does not depend on the number of threads.
//
//     workers   [point 4][point 5]     ...     finished, waiting for their turn: [3]
//     writer    header, 0, 1, 2        <- next

#include "run/work_estimate.hpp"
#include "study/sweep/sweep_output.hpp"

namespace stepsim::study {

// What happens if the output exists already. refuse: an error. overwrite: it is emptied and written
// anew, so that its old content is lost even if the sweep is interrupted.
// resume: its failed points are run again, and then the points after its last complete record.
enum class IfExists { refuse, overwrite, resume };

struct SweepOptions {
  std::string output = {}; // name of the file; "-" = standard output
  RecordFormat format = RecordFormat::jsonl;
  std::vector<std::string> columns = {}; // the figures of a record; all if empty
  IfExists if_exists = IfExists::refuse;
  Shard shard = {};
  int jobs = 1;                     // number of threads
  std::string tool = {};            // name and version for the header: "stepsim 0.1.0"
  double max_seconds = kMaxSeconds; // a point whose estimated CPU time is larger fails
  // Called from the calling thread, before the first point and after records were written, with the
  // number of points done and of all points of the shard. Points of an earlier, resumed run count
  // as done. May be empty.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
  // Called between points. If it returns true, the sweep ends with the points finished so far. May
  // be empty.
  std::function<bool()> interrupted = {};
};

// The report of a sweep; all counts are numbers of points.
struct SweepReport {
  std::int64_t points = 0;         // points of this shard
  std::int64_t resumed = 0;        // points that an earlier run had finished
  std::int64_t failed = 0;         // records with status error, in the whole file
  std::int64_t fitting = 0;        // points of this run of which no GPU is known to be too small
  std::int64_t judged = 0;         // points of this run of which the memory of a GPU is known
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

// The hash that identifies a sweep. It is equal for equal work, independent of the location of the
// files and of the number of shards. Resuming and merging compare it, so that records of two grids
// are never mixed in one file.

// 16 hex digits: 64-bit FNV-1a of the canonical (sorted keys, compact, shortest numbers) scenario
// with its defaults resolved, the contents of the files it names, the axes, zips and replications,
// and the schema version. Paths, jobs, shards and output do not change it; a key that no point
// reads may change it. A file that cannot be read is hashed by name, and its points fail later.
[[nodiscard]] std::string grid_hash(const Sweep& sweep, Files& files);

// The main loop of a sweep: threads take chunks of points, and whoever finishes the next one in
// order writes it, with all finished chunks behind it. The calling thread waits, reports the
// progress and asks for interruptions.

// Runs the points of the shard from index `first` up to report.points, which the caller has set.
// Sets report.interrupted, leaves report.points and report.resumed unchanged, and adds to all other
// members of the report. Throws SimulationError if the output cannot be written.
void run_points(const Sweep& sweep, Files& files, const SweepOptions& options,
                const Records& records, SweepOutput& output, std::int64_t first,
                SweepReport& report);

// Estimates how long a sweep will take: by running three of its points, or without running any.

struct SweepEstimate {
  double seconds{};     // wall-clock time for all points of the shard with `jobs` threads
  std::int64_t timed{}; // number of points that were timed: the first, the middle and the last
  // How many of the timed points QuickRun evaluates (a point together with all that differ from it
  // in nodes, latency and bandwidth only), and how many SharedRun evaluates. For every other point
  // the scenario is parsed anew.
  std::int64_t by_formula{};
  std::int64_t sharing{};
};
// Runs the three points. Throws InputError if none of a sample of points can be parsed
// (check_some_point()).
[[nodiscard]] SweepEstimate estimate(const Sweep& sweep, Files& files, const SweepOptions& options);

// Approximate CPU seconds for `points` points of the sweep: `points` times the mean of the
// estimated seconds (work_estimate.hpp) of the first, the middle and the last point. No point is
// run. A point that cannot be parsed counts as 0 s.
[[nodiscard]] double expected_seconds(const Sweep& sweep, Files& files, std::int64_t points);

// Merges the shards of a sweep: the records of all shards in point order, after the header of the
// whole sweep. The output is byte for byte the file of an unsharded run.

// The report of a merge. If points are missing, no output was written, and the report says which.
struct MergeReport {
  std::int64_t points = 0; // points of the whole sweep
  std::int64_t failed = 0; // records with status error
  // The points that no file has, as ranges first..last (both included); the first 100 shards to
  // which they belong, ascending; and the number of further such shards.
  std::vector<std::pair<std::int64_t, std::int64_t>> missing;
  std::vector<Shard> shards_to_run;
  std::int64_t more_shards_to_run = 0;
};

// Merges the files `shards` and writes `output` ("-" = standard output) unless points are missing.
// A point may be in several files if its records are identical. Time and memory depend on the
// number of records in the files, not on the number of points in the headers. Throws InputError if
// a file is not the output of a sweep, if the sweeps, their formats or their numbers of shards
// differ, or if two records of a point differ.
MergeReport merge_sweeps(const std::vector<std::string>& shards, const std::string& output);

} // namespace stepsim::study
