#pragma once
// Records of a file as flat rows: what `stepsim sweep`, `collective`, `compare`, `tune`, `solve`
// and the importers of others write, as JSON Lines, JSON or CSV.
#include <cstdint>
#include <string>
#include <vector>

#include "json/json.hpp"

namespace stepsim::cli {

struct PlotRow {
  std::size_t line{}; // of the file, from 1
  io::Object cells;   // nested keys joined by "_", lists left out
};

struct PlotRows {
  io::Json header;                 // of a sweep; null without
  std::vector<PlotRow> rows;       // without header records, sums and points that failed
  std::int64_t failed = 0;         // points with an error
  std::string name;                // of the scenario in the header; "" without
  std::vector<std::string> varied; // columns of the axes in the header
};

// Reads the file ("-" = standard input). JSON may be a list of records, an object with one of the
// lists rows, curve and points, or one record. Throws InputError for what is no record.
[[nodiscard]] PlotRows read_plot_rows(const std::string& path);

// The cell of a row: null where it has none.
[[nodiscard]] io::Json cell_of(const PlotRow& row, std::string_view key);

} // namespace stepsim::cli
