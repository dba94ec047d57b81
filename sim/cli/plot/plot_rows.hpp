#pragma once
// Records of a file as flat rows, read from JSON Lines, JSON or CSV: the output of `stepsim sweep`,
// `collective`, `compare`, `tune` and `solve`, and of tools that import measurements.
#include <span>

#include "document/json.hpp"

namespace stepsim::cli {

struct PlotRow {
  std::size_t line{}; // line of the file, from 1
  io::Json record;    // flat: nested keys joined by "_", lists left out
};

struct PlotRows {
  io::Json header; // header record of a sweep; null if there is none
  // Without header records, failed points, and the sums and crossovers of `stepsim collective`.
  std::vector<PlotRow> rows;
  std::int64_t failed = 0; // points with an error
  std::string name; // name of the scenario in the header, and what varies; "" without a header
  std::vector<std::string> varied; // columns of the axes in the header
  std::string best_by;             // criterion of a comparison; "" where the file has none
};

// Reads the file ("-" = standard input). JSON may be a list of records, an object with one of the
// lists rows, curve and points, or one record. Throws InputError for anything else, and for a
// record of a sweep that lacks the value of an axis.
[[nodiscard]] PlotRows read_plot_rows(const std::string& path);

// The cell of a row; null if the row has no such cell.
[[nodiscard]] io::Json cell_of(const PlotRow& row, std::string_view key);

using KeyValue = std::pair<std::string, std::string>;

// The text of a cell: words as they are, all else as compact JSON.
[[nodiscard]] std::string plain_cell(const io::Json& value);
// Whether the cell of the key has the value, as text or as a quantity ("25Gbps") up to rounding.
[[nodiscard]] bool matches(const PlotRow& row, const KeyValue& wanted);
[[nodiscard]] bool matches_all(const PlotRow& row, std::span<const KeyValue> wanted);

} // namespace stepsim::cli
