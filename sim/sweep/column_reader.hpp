#pragma once
// Reads a binary sweep file (column_layout.hpp), finished or unfinished, point by point. The whole
// content is checked: InputError is thrown if the file is damaged or from another program.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sweep/column_layout.hpp"
#include "sweep/shard.hpp"
#include "json/json.hpp"

namespace stepsim::study {

class ColumnReader {
public:
  explicit ColumnReader(const std::string& path);
  ColumnReader(const ColumnReader&) = delete;
  ColumnReader& operator=(const ColumnReader&) = delete;

  [[nodiscard]] const std::string& header() const { return header_; } // without line end
  [[nodiscard]] const io::Json& header_tree() const { return header_tree_; }
  [[nodiscard]] const Sweep& sweep() const { return *sweep_; }
  [[nodiscard]] const Shard& shard() const { return shard_; }
  // The number of points in the file, which are the first points of its shard.
  [[nodiscard]] std::int64_t points() const { return state_.points; }
  [[nodiscard]] bool is_complete() const { return is_complete_; }
  // What ColumnFile needs to continue an unfinished file: the state, and the texts of each column.
  [[nodiscard]] const ColumnState& state() const { return state_; }
  [[nodiscard]] const std::vector<std::vector<std::string>>& texts() const { return texts_; }

  // Reads the next point and its number in the whole sweep; false after the last point. By then,
  // the CRCs of all columns have been checked.
  [[nodiscard]] bool next(PointOutcome& outcome, std::int64_t& point);
  // Starts again at the first point.
  void rewind();

private:
  struct Column {
    std::size_t index{};
    std::uint64_t values{}; // offset
    std::uint32_t crc{}, expected{};
  };
  [[noreturn]] void refuse(const std::string& message) const;
  void read_header();
  [[nodiscard]] bool read_state(std::size_t which);
  void read_journal();
  void read_directory();
  [[nodiscard]] std::vector<std::string> read_words(const io::NpzEntry& entry) const;
  void open_columns();
  void read_block();
  void read_cells(Column& column, std::size_t size);
  [[nodiscard]] bool is_usable(std::size_t which);

  io::RandomAccessFile file_;
  std::string header_;
  io::Json header_tree_;
  Shard shard_;
  std::unique_ptr<const Sweep> sweep_;
  std::unique_ptr<const RecordColumns> columns_;
  std::unique_ptr<const ColumnLayout> layout_;
  bool is_complete_ = false;
  ColumnState state_;
  std::vector<std::uint64_t> offsets_; // offsets of the entries of state_.order
  std::vector<std::vector<std::string>> texts_;
  std::vector<Column> open_;
  ColumnBlock block_;
  std::size_t at_ = 0;    // position of the next point in the block
  std::int64_t read_ = 0; // points in all blocks so far
};

// Whether a file that begins with `head` is a binary sweep file.
[[nodiscard]] bool is_binary_sweep(std::string_view head);
// Whether `path` is a regular file that begins like a binary sweep file.
[[nodiscard]] bool is_binary_sweep_file(const std::string& path);

} // namespace stepsim::study
