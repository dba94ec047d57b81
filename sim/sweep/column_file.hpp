#pragma once
// Writes a binary sweep file (column_layout.hpp) block by block, in point order. If the process
// dies, the file can be continued from the last flush().
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sweep/column_layout.hpp"
#include "json/file_write.hpp"

namespace stepsim::study {

class ColumnFile {
public:
  // Begins a new file and removes the content of `file`. All arguments must outlive the object.
  ColumnFile(const ColumnLayout& layout, io::OutputFile& file);
  // Continues an unfinished file. `state` and `texts` are those that ColumnReader found in it;
  // texts[c] are the texts of column c, in the order of their codes.
  ColumnFile(const ColumnLayout& layout, io::OutputFile& file, const ColumnState& state,
             std::span<const std::vector<std::string>> texts);
  ColumnFile(const ColumnFile&) = delete;
  ColumnFile& operator=(const ColumnFile&) = delete;

  // Adds the next points. They are written to the file when there are enough of them, or after a
  // fifth of a second. Throws SimulationError if the file cannot be written, or if a column has
  // more than 65,535 different texts.
  void add(const ColumnBlock& block);
  // Writes all points that were added, with the state from which the file can be continued.
  void flush();
  // Completes the file after the last point: writes the texts and the directory, removes the state.
  void finish();
  // The number of points in the file, without added points that are not written yet.
  [[nodiscard]] std::int64_t written() const { return state_.points; }

private:
  struct Column {
    bool begun = false;
    bool has_value = false;   // `waiting` has a value that is not null
    std::int64_t first = 0;   // point of the first value in `waiting`
    std::string waiting;      // values that are not written yet, in the form of the file
    std::uint64_t offset = 0; // offset of the column's entry in the file
    std::uint64_t values = 0; // offset of the column's values
    std::uint32_t crc = 0;
    std::vector<std::string> texts;
    std::unordered_map<std::string, std::uint16_t> codes;
  };

  void begin_column(std::size_t column);
  void write_values(std::size_t column);
  void add_cells(std::size_t column, const ColumnCells& cells, std::size_t size);
  [[nodiscard]] std::uint16_t code(std::size_t column, const std::string& text);
  void write_state(std::size_t which);
  [[nodiscard]] io::NpzEntry write_array(std::string_view name, const std::string& array);

  using Clock = std::chrono::steady_clock;
  const ColumnLayout& layout_;
  io::OutputFile& file_;
  ColumnState state_;
  std::uint64_t end_; // end of the arrays so far, as an offset
  std::vector<Column> columns_;
  std::string journal_;      // texts that are not written yet
  std::int64_t waiting_ = 0; // points that are not written yet
  Clock::time_point flushed_ = Clock::now(), synced_ = flushed_;
};

// A NumPy array of texts in UTF-32: "" first, then the texts of codes 1, 2, .. Its type is "<U5" if
// the longest text has five characters, at least "<U1".
[[nodiscard]] std::string words_array(std::span<const std::string> texts);

} // namespace stepsim::study
