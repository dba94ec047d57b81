#pragma once
// Records of a sweep as columns of numbers: what a binary file holds. A block is a few points, one
// array per column; texts are numbers of a list that the block holds beside them.
//     iteration_time_s  [0.5, 0.4, NaN]          number: NaN is null
//     merge_linear      [1, 0, -1]               flag: -1 is null
//     bottleneck        [1, 1, 0]  ["compute"]   word: 0 is null, n the n-th text
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "run/summary_fields.hpp"
#include "sweep/sweep_file.hpp"
#include "sweep/sweep_records.hpp"

namespace stepsim::study {

enum class ColumnType { number, integer, flag, word };

struct RecordColumn {
  std::string key;
  ColumnType type{};
  Records::Source source{};
  std::size_t axis{};          // of a varied field
  const SummaryField* field{}; // of a figure
  std::vector<double> numbers; // of an axis, by type
  std::vector<std::int64_t> integers;
  std::vector<std::string> texts;
};

// The values of one column, by its type one of the arrays.
struct ColumnCells {
  std::vector<double> numbers;
  std::vector<std::int64_t> integers;
  std::vector<std::int8_t> flags;
  std::vector<std::uint16_t> codes;
  std::vector<std::string> texts; // of codes from 1, in the order of their first points
};

struct ColumnBlock {
  std::size_t size = 0; // points
  std::vector<ColumnCells> columns;
};

class RecordColumns {
public:
  // Throws UsageError for a sweep of collectives, whose records hold lists and objects.
  explicit RecordColumns(const Sweep& sweep);

  [[nodiscard]] const std::vector<RecordColumn>& columns() const { return columns_; }
  // Room for `size` points.
  void resize(ColumnBlock& block, std::size_t size) const;
  // Sets the i-th point of a block; points of a block are set in order.
  void set(ColumnBlock& block, std::size_t i, std::int64_t point,
           const PointOutcome& outcome) const;
  // What `set` was given, without texts and numbers that follow from the point.
  void get(const ColumnBlock& block, std::size_t i, PointOutcome& outcome) const;
  [[nodiscard]] std::int64_t point(const ColumnBlock& block, std::size_t i) const;

private:
  std::vector<std::int64_t> strides_;
  std::int64_t replications_;
  std::vector<RecordColumn> columns_;
};

} // namespace stepsim::study
