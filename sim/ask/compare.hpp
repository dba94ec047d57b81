#pragma once
// A few alternatives side by side: every combination of the axes run as a sweep, best first. Where
// the batches of an iteration vary, as with the number of workers, the rows stay in the order of
// the grid (ranking.hpp).
//     ratio = iteration_time_s / iteration_time_s of the best; by throughput or efficiency, the
//     best one's / the row's
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "run/work_estimate.hpp"
#include "scenario/files.hpp"
#include "sweep/ranking.hpp"
#include "sweep/sweep_file.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct Comparison {
  // One object per combination: varied fields, summary keys, ratio, method, error. Rows that failed
  // hold nulls and the error's text, and come last unless the rows are in the order of the grid.
  io::Array rows;
  // Names of the varied fields, in axis order; a field named ratio goes by its whole pointer.
  std::vector<std::string> varied;
  Ranking ranking;                   // of `rows`
  std::vector<std::int64_t> batches; // of an iteration, [row]
  std::int64_t failed = 0;           // rows with an error
  std::int64_t missing = 0;          // combinations that were not run, after an interruption
  std::vector<std::string> warnings; // of all rows, each once
};

struct CompareOptions {
  int jobs = 1;                       // threads
  std::optional<BestBy> best_by = {}; // empty: iteration time, or throughput if batches differ
  double max_seconds = kMaxSeconds;   // as in SweepOptions
  std::function<void(std::int64_t done, std::int64_t total)> progress = {}; // likewise
  std::function<bool()> interrupted = {};                                   // likewise
};

// Throws InputError if none of a sample of combinations can be parsed (check_some_point), and for a
// collective.
[[nodiscard]] Comparison compare(const Sweep& sweep, Files& files, const CompareOptions& options);

} // namespace stepsim::study
