#pragma once
// Where the columns of a binary sweep file stand. The number of points is known before the first
// one is run, so that every column has its place at once; a column begins with the first point that
// has a value in it, and one without values is not in the file.
//     finished:    [header][point][status] ... [texts of each word column][directory]
//     unfinished:  [header][point][status] ...            (hole) [state][state][journal]
// While a sweep runs, its state (points written, order of the columns, a CRC of each) and the texts
// found so far, one JSON line each, stand behind the place of the largest possible file; they are
// cut off at the end. The two states are the last one and the last one before which everything was
// on the disk. docs/file-formats.md says how to read a file.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sweep/record_columns.hpp"
#include "json/npz.hpp"

namespace stepsim::study {

// How a column's values stand in the file.
struct StoredType {
  std::string_view npy; // NumPy's name of the type
  std::size_t bytes{};  // of a value
  std::string_view null;
};
[[nodiscard]] StoredType stored_type(ColumnType type);

// What is in an unfinished file.
struct ColumnState {
  std::int64_t points = 0;         // written, the first ones of the shard
  std::vector<std::size_t> order;  // columns that have begun, in the order of their places
  std::vector<std::uint32_t> crcs; // of each of them, with its .npy header
  std::uint64_t journal = 0;       // bytes of the journal
  bool operator==(const ColumnState&) const = default;
};

class ColumnLayout {
public:
  // `header`: the header record without its line end; `points`: of the shard.
  ColumnLayout(const RecordColumns& columns, std::string_view header, std::int64_t points);

  [[nodiscard]] std::string head() const; // of the file: the header as an array
  [[nodiscard]] io::NpzEntry header_entry() const;
  [[nodiscard]] std::string column_head(std::size_t column) const; // its .npy header
  [[nodiscard]] io::NpzEntry column_entry(std::size_t column, std::uint64_t offset) const;
  // From the offset of an entry to its values, and to what stands behind it.
  [[nodiscard]] std::uint64_t values_offset(const io::NpzEntry& entry,
                                            std::string_view npy_head) const;
  [[nodiscard]] std::uint64_t end_of(const io::NpzEntry& entry) const;
  [[nodiscard]] std::int64_t points() const { return points_; }
  [[nodiscard]] const RecordColumns& columns() const { return columns_; }

  // Places of the two states, each of `state_bytes`, and of the journal.
  [[nodiscard]] std::uint64_t state_offset(std::size_t which) const;
  [[nodiscard]] std::size_t state_bytes() const;
  [[nodiscard]] std::uint64_t journal_offset() const { return state_offset(2); }
  [[nodiscard]] std::string state_text(const ColumnState& state) const;
  // Empty where the bytes are no state.
  [[nodiscard]] std::optional<ColumnState> state_of(std::string_view text) const;

private:
  const RecordColumns& columns_;
  std::string header_;
  std::int64_t points_;
  std::uint64_t behind_columns_{};
};

// "bottleneck.words": the array of a word column's texts; the first one is empty.
[[nodiscard]] std::string words_name(const RecordColumn& column);

} // namespace stepsim::study
