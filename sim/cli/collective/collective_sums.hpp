#pragma once
// Records of `stepsim collective` that follow the records of the grid: sizes at which another
// algorithm becomes the fastest (--crossovers), and sums over several operations.
#include <optional>
#include <vector>

#include "document/json.hpp"
#include "scenario/files.hpp"
#include "study/sweep/sweep_file.hpp"

namespace stepsim::cli {

// Times of one record, or their sums over the operations of the axis /op at one combination of the
// other axes; a sum is empty if a time is missing.
struct Times {
  std::optional<double> closed_form_s, max_plus_s, events_s;
  double seconds{}; // by the evaluator that `method` of the record names

  void add(const Times& other);
};

// The times of a record. add_sums() needs only these, so that the records need not be stored.
[[nodiscard]] Times times_of(const io::Json& record);

// Appends a record per crossover between algorithms of the grid, from its least size (at least 1
// byte) to its largest, for every combination of the other axes. Throws UsageError for fewer than
// two algorithms, not counting auto and compressed exchanges, or for a single message size.
void add_crossovers(const study::Sweep& sweep, study::Files& files, std::vector<io::Json>& records);
// If the grid has several operations, appends a record with the sum of their times for every
// combination of the other axes. `times`: [point of the grid].
void add_sums(const study::Sweep& sweep, study::Files& files, const std::vector<Times>& times,
              std::vector<io::Json>& records);

} // namespace stepsim::cli
