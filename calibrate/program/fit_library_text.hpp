#pragma once
// The output of `fit-library` (CLU 8.4): parameters as physical quantities, residuals by operation
// and shape and by size, errors on points that were left out of the fit, and points for which the
// library seems to have chosen another algorithm than the model.

#include "document/json.hpp"
#include "nccl/library_fit.hpp"

namespace stepsim::calibrate {

using nccl::ErrorNumbers;
using nccl::LibraryFit;

// Everything that is printed about one fit.
struct LibraryReport {
  struct Line {
    std::string name; // "allreduce 10x8", "below 64 KiB", "10x8", "all shapes"
    ErrorNumbers numbers;
  };
  // A point for which the model with the pair of algorithm and protocol that it chose (`chosen`)
  // is off by over 1.2 times the factor by which it is off with the best-fitting pair (`likely`).
  struct Disagreement {
    nccl::MeasuredPoint point;
    nccl::Pair chosen, likely;
  };
  std::vector<Line> residuals; // errors of the model without the correction by residuals
  std::vector<Line> sizes;     // the same errors by ranges of message size
  std::vector<Line> held_out;  // refits without one shape, or without every second size
  ErrorNumbers pooled;         // last line of held_out; 0 points if nothing can be left out
  std::vector<Disagreement> disagreements;
};

// `calibration` must belong to `fit`.
[[nodiscard]] LibraryReport report_library(const LibraryFit& fit,
                                           const nccl::Calibration& calibration);

[[nodiscard]] std::string library_text(const LibraryFit& fit, const nccl::Calibration& calibration,
                                       const LibraryReport& report);
// The report as JSON (--json); the parameters are in the calibration file only.
[[nodiscard]] io::Json report_json(const LibraryReport& report);

} // namespace stepsim::calibrate
