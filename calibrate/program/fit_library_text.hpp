#pragma once
// What `fit-library` prints (CLU 8.4): parameters in physical words, residuals by operation and
// shape and by size, errors on what was left out, and where the library seems to have chosen
// another algorithm.
#include <string>
#include <vector>

#include "calibrate/core/library_fit.hpp"
#include "json/json.hpp"

namespace stepsim::calibrate {

// Everything that is said of one fit, computed once.
struct LibraryReport {
  struct Line {
    std::string name; // "allreduce 10x8", "below 64 KiB", "10x8", "all shapes"
    ErrorNumbers numbers;
  };
  struct Disagreement { // another pair fits more than 20 % better than the one that is chosen
    library::MeasuredPoint point;
    library::Pair chosen, likely;
  };
  std::vector<Line> residuals; // of the model alone, without the correction by residuals
  std::vector<Line> sizes;
  std::vector<Line> held_out; // refits without one shape, or without every second size
  ErrorNumbers pooled;        // last line of held_out; 0 points where nothing can be left out
  std::vector<Disagreement> disagreements;
};

// `calibration` is that of the fit.
[[nodiscard]] LibraryReport report_library(const LibraryFit& fit,
                                           const library::Calibration& calibration);

[[nodiscard]] std::string library_text(const LibraryFit& fit,
                                       const library::Calibration& calibration,
                                       const LibraryReport& report);
// The report as JSON (--json); the parameters are in the calibration file only.
[[nodiscard]] io::Json report_json(const LibraryReport& report);

// What a user should know before trusting the fit (CLU 8.2): shapes and sizes that are missing,
// points slower than 1.5 times both of their neighbours in size.
[[nodiscard]] std::vector<std::string> library_warnings(const LibraryFit& fit);

} // namespace stepsim::calibrate
