#pragma once
// Writes a binary sweep file (column_layout.hpp) block by block in point order. After every `flush`
// the file can be continued from there, whatever happens to the process.
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
  // A new file; what `file` holds is cut off. All arguments must outlive the object.
  ColumnFile(const ColumnLayout& layout, io::OutputFile& file);
  // Goes on with an unfinished file; `texts`: of each column, in the order of their codes.
  ColumnFile(const ColumnLayout& layout, io::OutputFile& file, const ColumnState& state,
             std::span<const std::vector<std::string>> texts);
  ColumnFile(const ColumnFile&) = delete;
  ColumnFile& operator=(const ColumnFile&) = delete;

  // The next points. They reach the file when there are enough of them, or after a fifth of a
  // second. Throws SimulationError where the file cannot be written, or where a column has more
  // than 65,535 different texts.
  void add(const ColumnBlock& block);
  void flush();
  // All points are there: writes the texts and the directory and cuts off the state.
  void finish();
  [[nodiscard]] std::int64_t written() const { return state_.points; }

private:
  struct Column {
    bool begun = false;
    bool has_value = false;   // among the values that wait
    std::int64_t first = 0;   // point of the first one of them
    std::string waiting;      // values as they stand in the file
    std::uint64_t offset = 0; // of its entry
    std::uint64_t values = 0; // of its values
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
  std::uint64_t end_; // of the arrays so far
  std::vector<Column> columns_;
  std::string journal_;      // texts that are not written yet
  std::int64_t waiting_ = 0; // points
  Clock::time_point flushed_ = Clock::now(), synced_ = flushed_;
};

// Numbers of characters of UTF-32, as NumPy stores texts: "" first, then the texts of codes 1, 2,
// ... `type` becomes "<U5" for texts of five characters at most.
[[nodiscard]] std::string words_array(std::span<const std::string> texts);

} // namespace stepsim::study
