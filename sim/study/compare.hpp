#pragma once
// A few alternatives side by side: every combination of the axes run as a sweep, best first.
//     ratio = iteration_time_s / iteration_time_s of the best
#include <cstdint>
#include <string>
#include <vector>

#include "io/json.hpp"
#include "study/files.hpp"
#include "study/sweep_file.hpp"

namespace stepsim::study {

struct Comparison {
  // One object per combination: varied fields, summary keys, ratio, method, error. Rows that failed
  // come last and hold nulls and the error's text.
  io::Array rows;
  std::vector<std::string> varied; // names of the varied fields, in axis order
  std::int64_t failed = 0;
  std::vector<std::string> warnings; // of all rows, each once
};

// Throws InputError if no combination can be run.
[[nodiscard]] Comparison compare(const Sweep& sweep, Files& files, int jobs);

} // namespace stepsim::study
