#pragma once
// Rows of `compare` and `sweep` as tables: varied fields in handy units, times, efficiency,
// bottleneck; the best row is marked by a word, a failed one by its error.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/shell/table.hpp"
#include "sweep/ranking.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

// Flat records, the names of their varied fields, and which of them is best.
struct RecordRows {
  std::span<const io::Json> rows;
  std::span<const std::string> varied;
  const study::Ranking& ranking;
  std::span<const std::int64_t> batches; // of an iteration, [row]
};

// The rows as one table; a ratio is shown where they have one, the speed-up where the batches
// of an iteration differ. With two varied fields a small table of both against what makes a row the
// best stands before it, if the rows are all combinations, each field has two values or more and
// one of them at most 12.
[[nodiscard]] std::vector<Table> record_tables(const RecordRows& records);

// Columns of `compare --algorithms` and what they mean, for help.
struct AlgorithmColumn {
  std::string_view heading;
  std::string_view meaning;
};
[[nodiscard]] std::span<const AlgorithmColumn> algorithm_columns();

// Rows of `compare --algorithms`: a table per combination of the varied fields, what each algorithm
// takes, sends and assumes.
[[nodiscard]] std::vector<Table> algorithm_tables(std::span<const io::Json> rows,
                                                  std::span<const std::string> varied);

} // namespace stepsim::cli
