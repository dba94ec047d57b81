#pragma once
// Keeps the error table of a long measurement on disk, as JSON Lines for
// `stepsim-calibrate report`. The file is rewritten while the table grows, so that an interrupted
// run keeps its rows.
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/core/error_table.hpp"

namespace stepsim::calibrate {

class TableKeeper {
public:
  // `first` are rows that are known before the measurement starts; in the file they come after the
  // measured rows.
  TableKeeper(std::string path, std::vector<ErrorRow> first);
  // Writes the file with the rows that `rows` returns, if grow() has not written for two seconds,
  // counted from the constructor at first.
  void grow(const std::function<std::vector<ErrorRow>()>& rows);
  // Writes the file with these rows at once. Like grow(), throws SimulationError if the file cannot
  // be written.
  void write(const std::vector<ErrorRow>& rows) const;

private:
  std::string path_;
  std::vector<ErrorRow> first_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

} // namespace stepsim::calibrate
