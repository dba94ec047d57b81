#pragma once
// The error table of a long measurement on disk, JSON Lines that `stepsim-calibrate report` reads:
// written from time to time while it grows, so that an interrupted run leaves its rows.
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/core/error_table.hpp"

namespace stepsim::calibrate {

class TableKeeper {
public:
  // `first`: rows that are known already; in the file they follow those of the measurement.
  TableKeeper(std::string path, std::vector<ErrorRow> first);
  // Writes what `rows` gives if the last time was two seconds ago or more.
  void grow(const std::function<std::vector<ErrorRow>()>& rows);
  // Writes in any case. Throws as cli::write_named does.
  void write(const std::vector<ErrorRow>& rows) const;

private:
  std::string path_;
  std::vector<ErrorRow> first_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

} // namespace stepsim::calibrate
