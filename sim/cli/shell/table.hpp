#pragma once
// Tables for the terminal: numbers right-aligned, words left-aligned, units in the heading
// ("iteration [ms]"), two blanks between columns. A column is one of words if any of its cells
// starts with a letter or a slash.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/shell/app.hpp"

namespace stepsim::cli {

struct Table {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows; // each as long as `headings`
  std::string caption = {};                   // a line above it; "" = none
};

// The table as text for the terminal, without the caption.
[[nodiscard]] std::string table_text(const Table& table);
// Several tables in one text, each below its caption: a whole HTML page for Format::html, tables
// with pipes for Format::markdown, else text for the terminal.
[[nodiscard]] std::string tables_in(Format format, std::span<const Table> tables);

// One table as an HTML element <table> with its caption.
[[nodiscard]] std::string table_html(const Table& table);

// Cells with 4 significant digits; "-" for a value that does not exist.
[[nodiscard]] std::string cell(std::optional<double> value);
[[nodiscard]] std::string milliseconds_cell(std::optional<double> seconds);
[[nodiscard]] std::string percent_cell(std::optional<double> ratio);
// Returns `part`, or 0 if there is a `whole` and |part| < 1e-9 `whole`: so small a part is only the
// rounding error of a difference of equal times.
[[nodiscard]] std::optional<double> part_of(std::optional<double> part,
                                            std::optional<double> whole);

} // namespace stepsim::cli
