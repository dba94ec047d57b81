#pragma once
// Reads a file of kind measured_steps: scenarios, each with the measured time of its step.
#include <string>
#include <vector>

#include "document/json.hpp"

namespace stepsim::study {

struct MeasuredRow {
  io::Json scenario;              // with the schedule of the row, its short forms expanded
  double step_s{};                // measured iteration time
  const io::Json* place{nullptr}; // the row in the file
};

struct MeasuredRows {
  std::string name, source;
  std::vector<MeasuredRow> rows;
};

// `tree` must live as long as the result. Throws InputError.
[[nodiscard]] MeasuredRows read_measured_rows(const io::Json& tree);

} // namespace stepsim::study
