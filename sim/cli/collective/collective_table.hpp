#pragma once
// Collectives as a table: a row per point with the best algorithm marked, then crossovers and sums
// as sentences. `stepsim collective` and `stepsim sweep` both print it.

#include "cli/shell/document.hpp"
#include "study/sweep/sweep_file.hpp"

namespace stepsim::cli {

// The columns are op, algorithm, ranks, bytes and every other field that varies, then times [us],
// bandwidths [GB/s] and time / lower bound. With method all there is one column of times per
// evaluator. Only the cells of a record are stored.
class CollectiveTable {
public:
  // `sweep` must outlive the object.
  explicit CollectiveTable(const study::Sweep& sweep);
  // Adds the record of a point, or a record with its `error`.
  void add(std::int64_t point, const io::Json& record);
  // The table. Of the points that differ only in the algorithm, every point with the shortest time
  // is marked. May be called once.
  [[nodiscard]] Table finished();

private:
  [[nodiscard]] bool varies(std::string_view pointer) const;

  const study::Sweep& sweep_;
  std::vector<Column> columns_;
  std::size_t asked_{}; // number of the first columns that show what a point was asked for
  Table table_;
  std::vector<std::int64_t> points_;       // [row]
  std::map<std::int64_t, double> seconds_; // [point], for points that have a time
};

// Time of a record without `error` in seconds, by the evaluator that its `method` names.
[[nodiscard]] double seconds_of(const io::Json& record);

// One line per record of a crossover or sum; empty if there are none.
[[nodiscard]] std::string extra_text(const std::vector<io::Json>& extra);

// Records of `stepsim collective` that follow the records of the grid: sizes at which another
// algorithm becomes the fastest (--crossovers), and sums over several operations.

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
