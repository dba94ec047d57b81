#pragma once
// Converts the records of a sweep to columns of numbers, as stored in a binary file. A block holds
// a few points, with one array per column. Texts are stored as numbers (codes) of a list of texts.
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
  std::size_t axis{};          // varied field: its axis
  const SummaryField* field{}; // figure: its row in the table of figures
  // Varied field: the values of its axis; one of the lists is used, by `type`.
  std::vector<double> numbers;
  std::vector<std::int64_t> integers;
  std::vector<std::string> texts;
};

// The values of one column; its type decides which array is used.
struct ColumnCells {
  std::vector<double> numbers;
  std::vector<std::int64_t> integers;
  std::vector<std::int8_t> flags;
  std::vector<std::uint16_t> codes;
  std::vector<std::string> texts; // texts of codes 1, 2, .., in the order of their first points
};

struct ColumnBlock {
  std::size_t size = 0; // number of points
  std::vector<ColumnCells> columns;
};

class RecordColumns {
public:
  // Throws UsageError for a sweep of collectives, because their records hold lists and objects.
  explicit RecordColumns(const Sweep& sweep);

  [[nodiscard]] const std::vector<RecordColumn>& columns() const { return columns_; }
  // Makes room for `size` points in `block`.
  void resize(ColumnBlock& block, std::size_t size) const;
  // Stores the i-th point of a block. The points of a block must be set in order.
  void set(ColumnBlock& block, std::size_t i, std::int64_t point,
           const PointOutcome& outcome) const;
  // Restores the outcome that was passed to set() for the i-th point.
  void get(const ColumnBlock& block, std::size_t i, PointOutcome& outcome) const;
  // The number of the i-th point.
  [[nodiscard]] std::int64_t point(const ColumnBlock& block, std::size_t i) const;

private:
  struct NumberColumn {
    std::size_t index{};
    SummaryNumber member{};
  };

  std::vector<std::int64_t> strides_;
  std::int64_t replications_;
  std::vector<RecordColumn> columns_;
  std::vector<NumberColumn> numbers_; // columns of figures that are numbers, most of all columns
  std::vector<std::size_t> others_;   // indices of all other columns
};

} // namespace stepsim::study
