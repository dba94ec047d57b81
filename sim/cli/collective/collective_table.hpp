#pragma once
// Collectives as a table: a row per point with the best algorithm marked, then crossovers and sums
// as sentences. `stepsim collective` and `stepsim sweep` both print it.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/shell/document.hpp"
#include "document/json.hpp"
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

} // namespace stepsim::cli
