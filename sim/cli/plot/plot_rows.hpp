#pragma once
// Records of a file as flat rows, read from JSON Lines, JSON or CSV: the output of `stepsim sweep`,
// `collective`, `compare`, `tune` and `solve`, and of tools that import measurements.
#include <cstdint>
#include <string>
#include <vector>

#include "json/json.hpp"

namespace stepsim::cli {

struct PlotRow {
  std::size_t line{}; // line of the file, from 1
  io::Object cells;   // nested keys joined by "_", lists left out
};

struct PlotRows {
  io::Json header; // header record of a sweep; null if there is none
  // Without header records, failed points, and the sums and crossovers of `stepsim collective`.
  std::vector<PlotRow> rows;
  std::int64_t failed = 0;         // points with an error
  std::string name;                // name of the scenario in the header; "" without a header
  std::vector<std::string> varied; // columns of the axes in the header
};

// Reads the file ("-" = standard input). JSON may be a list of records, an object with one of the
// lists rows, curve and points, or one record. Throws InputError for anything else, and for a
// record of a sweep that lacks the value of an axis.
[[nodiscard]] PlotRows read_plot_rows(const std::string& path);

// The cell of a row; null if the row has no such cell.
[[nodiscard]] io::Json cell_of(const PlotRow& row, std::string_view key);

} // namespace stepsim::cli
