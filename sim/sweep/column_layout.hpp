#pragma once
// The layout of a binary sweep file. The number of points is known before the first point is run,
// so that the size of every column is known, too. A column is added to the file at the first point
// that has a value in it; a column without values is not in the file.
//     finished:    [header][point][status] ... [texts of each word column][directory]
//     unfinished:  [header][point][status] ...            (hole) [state][state][journal]
// While a sweep runs, two states (points written, order of the columns, a CRC of each) and the
// journal (the texts found so far, one JSON line each) are stored after the end of the largest
// possible file; they are removed at the end. The first state is written at every flush. The second
// is written only after a sync, so that its points are on the disk even if the machine crashes.
// docs/file-formats.md explains how to read a file.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sweep/record_columns.hpp"
#include "json/npz.hpp"

namespace stepsim::study {

// The form of a column's values in the file.
struct StoredType {
  std::string_view npy;  // NumPy's name of the type
  std::size_t bytes{};   // bytes per value
  std::string_view null; // the bytes of the value null
};
[[nodiscard]] StoredType stored_type(ColumnType type);

// The state of an unfinished file.
struct ColumnState {
  std::int64_t points = 0;         // points written: the first points of the shard
  std::vector<std::size_t> order;  // columns in the file, in the order of their offsets
  std::vector<std::uint32_t> crcs; // CRC of each element of `order`, including its .npy header
  std::uint64_t journal = 0;       // bytes of the journal
  bool operator==(const ColumnState&) const = default;
};

class ColumnLayout {
public:
  // `header` is the header record without its line end; `points` is the size of the shard.
  // `columns` must outlive the object.
  ColumnLayout(const RecordColumns& columns, std::string_view header, std::int64_t points);

  [[nodiscard]] std::string head() const; // first bytes of the file: the header as an array
  [[nodiscard]] io::NpzEntry header_entry() const;
  [[nodiscard]] std::string column_head(std::size_t column) const; // .npy header of the column
  [[nodiscard]] io::NpzEntry column_entry(std::size_t column, std::uint64_t offset) const;
  // The offset of the values of an entry, whose .npy header is `npy_head`, and the offset after the
  // end of the entry. All offsets are bytes from the start of the file.
  [[nodiscard]] std::uint64_t values_offset(const io::NpzEntry& entry,
                                            std::string_view npy_head) const;
  [[nodiscard]] std::uint64_t end_of(const io::NpzEntry& entry) const;
  [[nodiscard]] std::int64_t points() const { return points_; }
  [[nodiscard]] const RecordColumns& columns() const { return columns_; }

  // Offsets of the two states, which have state_bytes() each, and of the journal.
  [[nodiscard]] std::uint64_t state_offset(std::size_t which) const;
  [[nodiscard]] std::size_t state_bytes() const;
  [[nodiscard]] std::uint64_t journal_offset() const { return state_offset(2); }
  [[nodiscard]] std::string state_text(const ColumnState& state) const;
  // Parses a state; empty if `text` is not a valid state of this file.
  [[nodiscard]] std::optional<ColumnState> state_of(std::string_view text) const;

private:
  const RecordColumns& columns_;
  std::string header_;
  std::int64_t points_;
  std::uint64_t behind_columns_{};
};

// The name of the array with the texts of a word column, such as "bottleneck.words". The first text
// of the array is empty.
[[nodiscard]] std::string words_name(const RecordColumn& column);

} // namespace stepsim::study
