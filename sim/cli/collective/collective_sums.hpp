#pragma once
// Records of `stepsim collective` that follow those of the grid points: sizes at which another
// algorithm becomes the fastest (--crossovers), and the sum over several operations.
#include <optional>
#include <vector>

#include "scenario/files.hpp"
#include "sweep/sweep_file.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

// Times of one record, or of the operations of a grid point added up; empty where one is missing.
struct Times {
  std::optional<double> closed_form_s, max_plus_s, events_s;
  double seconds{}; // by the evaluator that the record's `method` names

  void add(const Times& other);
};

// The times of a record, without what only the record needs, so that sums can be made at the end of
// a large grid.
[[nodiscard]] Times times_of(const io::Json& record);

// Appends a record per crossover of the algorithms of the grid. Throws UsageError for fewer than
// two algorithms besides auto and compressed exchanges, or for one size of the message.
void add_crossovers(const study::Sweep& sweep, study::Files& files, std::vector<io::Json>& records);
// Appends, where the grid has several operations, a record with the sum of their times for every
// combination of the other axes. `times`: one per point of the grid, in point order.
void add_sums(const study::Sweep& sweep, study::Files& files, const std::vector<Times>& times,
              std::vector<io::Json>& records);

} // namespace stepsim::cli
