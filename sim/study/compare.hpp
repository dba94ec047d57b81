#pragma once
// Runs every combination of the axes of a sweep and returns the rows, best first. If the batches of
// an iteration differ in number or size (Ranking::batches_differ in ranking.hpp), as with the
// number of workers, the rows stay in the order of the grid. Each row that did not fail has its
// ratio to the best row (Ranking::ratios).

#include "study/sweep/ranking.hpp"
#include "study/sweep/rows.hpp"

namespace stepsim::study {

struct Comparison {
  // One object per combination that was run: varied fields, summary keys, ratio, method, error.
  // Rows that failed hold nulls and the error's text, and come last unless the rows are in the
  // order of the grid.
  io::Array rows;
  // Names of the varied fields, in axis order. A field named "ratio" has its whole JSON pointer as
  // its name here, because the rows have another key `ratio`.
  std::vector<std::string> varied;
  Ranking ranking; // its indices count `rows` from 0
  // [row] number of batches per iteration, also of a row that failed
  std::vector<std::int64_t> batches;
  std::int64_t failed = 0;           // rows with an error
  std::int64_t missing = 0;          // combinations that were not run, after an interruption
  std::vector<std::string> warnings; // warnings of all runs, each once
};

// Ranks the rows, gives each its ratio to the best, and sorts them, the best first, those that need
// more memory than a device has behind those that fit, and those that failed last.
void rank_and_sort(Comparison& comparison, std::optional<BestBy> best_by = {});

// Runs the sweep. `best_by` empty: iteration time, or throughput if batches differ. Throws
// InputError if none of a sample of combinations can be parsed (check_some_point), or if the base
// of the sweep is a collective and not a scenario.
[[nodiscard]] Comparison compare(const Sweep& sweep, Files& files, const SweepOptions& options,
                                 std::optional<BestBy> best_by = {});

} // namespace stepsim::study
