#pragma once
// Tables for the terminal: numbers right-aligned, words left-aligned, units in the heading
// ("iteration [ms]"), two blanks between columns. A column is one of words if any of its cells
// starts with a letter.
#include <optional>
#include <string>
#include <vector>

namespace stepsim::cli {

struct Table {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows; // each as long as `headings`
};

[[nodiscard]] std::string table_text(const Table& table);

// Cells with 4 significant digits; "-" for a value that does not exist.
[[nodiscard]] std::string cell(std::optional<double> value);
[[nodiscard]] std::string milliseconds_cell(std::optional<double> seconds);
[[nodiscard]] std::string percent_cell(std::optional<double> ratio);

} // namespace stepsim::cli
