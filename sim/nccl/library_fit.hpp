#pragma once
// Fits the parameters of the library model to measured times of several shapes, that is, numbers of
// nodes and GPUs per node (CLU 8.3). There is one fit for each rule by which the library may choose
// its algorithm (Choice); the fit with the smaller data part of the objective is kept.
// Damped Gauss-Newton starts from the means of the priors, for `calibrated` also from the result of
// `published`. The result is deterministic, because the points are sorted first.

#include "nccl/calibration.hpp"

namespace stepsim::nccl {

struct LibraryFit {
  FittedLibrary fitted;
  double data_objective{};
  double objective{}; // data part + priors
  int iterations{};
  // Standard deviations of the posterior, in the coordinates of the parameters. They lack a factor
  // sqrt(phi) for data that scatter more than the objective expects:
  // Calibration::covariance is phi times the covariance used here.
  Parameters deviations{};
  // Whether the data say too little about a parameter: its deviation is above 0.8 of the prior's.
  std::array<bool, kParameterCount> from_prior{};
};

// Needs at least one point (asserted). Throws UsageError as FitPoints does, for example if
// a shape does not fit the node type. The caller sets the name of the fit.
[[nodiscard]] LibraryFit fit_library(const NodeType& node, std::vector<MeasuredPoint> points,
                                     Version version = kPublishedVersion);

// Signed relative errors, predicted / measured - 1, of points that were left out of a fit.
struct HeldOut {
  Shape shape;                    // the shape left out; {0, 0}: every second size of each operation
  std::vector<double> physical{}; // errors of the model without correction
  std::vector<double> corrected{}; // errors of the model with the correction by residuals
};

// Refits without each shape in turn and returns the errors on that shape, shapes ascending. Empty
// if there is only one shape.
[[nodiscard]] std::vector<HeldOut> leave_shapes_out(const LibraryFit& fit);
// Errors of the model without correction on all shapes that were left out in turn, or on the sizes
// left out if there is only one shape.
[[nodiscard]] std::vector<double> left_out_errors(const LibraryFit& fit,
                                                  const std::vector<HeldOut>& shapes);

struct ErrorNumbers {
  std::size_t points{};
  double median{};  // median of |error|
  double p90{};     // 90th percentile of |error|, interpolated
  double largest{}; // largest |error|
  double sign{};    // mean sign: 1 = every prediction too slow, -1 = every one too fast
};
// Needs at least one error (asserted).
[[nodiscard]] ErrorNumbers error_numbers(std::span<const double> errors);

} // namespace stepsim::nccl
