#pragma once
// Tables for the terminal: numbers right-aligned, words left-aligned, units in the heading
// ("iteration [ms]"), two blanks between columns. A column is one of words if any of its cells
// starts with a letter or a slash.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/shell/app.hpp"

namespace stepsim::cli {

struct Table {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows; // each as long as `headings`
  std::string caption = {};                   // a line above it; "" = none
};

// For the terminal, without the caption.
[[nodiscard]] std::string table_text(const Table& table);
// Tables one after the other, each below its caption: Format::html gives a page of its own,
// Format::markdown tables with pipes, everything else the text for the terminal.
[[nodiscard]] std::string tables_in(Format format, std::span<const Table> tables);

// One table as an element of a page; its headings name their columns (scope).
[[nodiscard]] std::string table_html(const Table& table);

// Cells with 4 significant digits; "-" for a value that does not exist.
[[nodiscard]] std::string cell(std::optional<double> value);
[[nodiscard]] std::string milliseconds_cell(std::optional<double> seconds);
[[nodiscard]] std::string percent_cell(std::optional<double> ratio);
// `part` itself, or 0 where |part| is below 1e-9 of `whole`: rounding of a difference of equal
// times.
[[nodiscard]] std::optional<double> part_of(std::optional<double> part,
                                            std::optional<double> whole);

} // namespace stepsim::cli
