#pragma once
// Tables of the rows of `compare` and `sweep`: varied fields in readable units, times, efficiency
// and bottleneck. A word marks the best row; a failed row shows its error.

#include "cli/help/help_text.hpp"
#include "study/sweep/ranking.hpp"

namespace stepsim::cli {

// Flat records, the names of their varied fields, and their ranking.
struct RecordRows {
  std::span<const io::Json> rows;
  std::span<const std::string> varied;
  const study::Ranking& ranking;
  std::span<const std::int64_t> batches; // [row] number of batches per iteration
  std::span<const std::string> chosen; // keys of the columns behind the varied fields; may be empty
};

// All rows as one table. A ratio is shown if the rows have one, the speed-up if the number of
// batches per iteration varies. For two varied fields, a small table of both fields and the metric
// of the ranking comes first if the rows are all combinations, each field has at least two values,
// and one field has at most 12. If columns are chosen, the
// table has the varied fields and these, without the small table.
[[nodiscard]] std::vector<Table> record_tables(const RecordRows& records);

// The columns of `compare --algorithms` and their meaning, for help.
[[nodiscard]] std::vector<Candidate> algorithm_columns();

// The rows of `compare --algorithms`, one table per combination of the varied fields, whose rows
// must follow one another: times, sent data and assumptions of each algorithm.
[[nodiscard]] std::vector<Table> algorithm_tables(std::span<const io::Json> rows,
                                                  std::span<const std::string> varied,
                                                  std::span<const std::string> chosen);

// The small table of a comparison over two fields: one field down, the other across.

// A table of both varied fields against the criterion. None where that would be a single row or
// column, more than 12 columns, or where the rows are not exactly all combinations: a hole or a
// repetition would put a wrong number into a cell.
[[nodiscard]] std::vector<Table> pivot_tables(const RecordRows& records);

// Shows the varied fields of flat records in readable units, for the cells and headings of tables.

// The names of varied fields in a table: the last token of the pointer, or the whole pointer where
// two fields would have the same name.
[[nodiscard]] std::vector<std::string> field_names(std::span<const std::string> varied);

// The largest number of a varied field; 0 without any.
[[nodiscard]] double largest_of(std::span<const io::Json> rows, const std::string& field);

// The cell of a varied field. Integers and decimal fractions without a unit stay as they were
// written.
[[nodiscard]] std::string varied_cell(const io::Json& row, const std::string& field, double factor);

// For Column::show: the interval of the iteration time, "(344.8 to 653.7, 80 %)"; "" without one.
[[nodiscard]] std::string band_cell(const io::Json& record, const Column& column);

} // namespace stepsim::cli
