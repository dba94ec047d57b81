#pragma once
// Collectives as people see them: a row per point with the best algorithm marked, then crossovers
// and sums in words. `stepsim collective` and `stepsim sweep` share it.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/shell/table.hpp"
#include "sweep/sweep_file.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

// Columns: op, algorithm, ranks, bytes and what else varies, then times [us], bandwidths [GB/s] and
// time over lower bound. With method all there is a column of times per evaluator. Only cells are
// kept of a record.
class CollectiveTable {
public:
  // `sweep` must outlive the object.
  explicit CollectiveTable(const study::Sweep& sweep);
  // The record of a point, or one with its `error`.
  void add(std::int64_t point, const io::Json& record);
  // The table, with the best of the points that differ in the algorithm alone marked. Called once.
  [[nodiscard]] Table finished();

private:
  [[nodiscard]] bool varies(std::string_view pointer) const;

  const study::Sweep& sweep_;
  bool varied_entries_, varied_network_, varied_delay_, all_methods_, has_library_;
  std::vector<std::string_view> varied_words_; // preset, shape
  Table table_;
  std::vector<std::int64_t> points_;       // of the rows
  std::map<std::int64_t, double> seconds_; // of the points that have a time
};

// Time of a record, s, by the evaluator that its `method` names.
[[nodiscard]] double seconds_of(const io::Json& record);

// One line per crossover or sum; empty without any.
[[nodiscard]] std::string extra_text(const std::vector<io::Json>& extra);

} // namespace stepsim::cli
