#pragma once
// Parameters of the library model from measured times of several shapes (CLU 8.3): damped
// Gauss-Newton from the means of the priors, for both values of library::Choice (`calibrated` also
// from the result of `published`); the one whose data part of the objective is smaller is kept.
// Deterministic: the points are sorted first.
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "library/calibration.hpp"

namespace stepsim::calibrate {

struct LibraryFit {
  library::FittedLibrary fitted;
  double data_objective{};
  double objective{}; // with the priors
  int iterations{};
  // Standard deviations of the posterior in the coordinates of the parameters, without the factor
  // phi for data that scatter more than the objective expects, which
  // library::Calibration::covariance has.
  library::Parameters deviations{};
  // The data say so little that the prior is what is left: deviation above 0.8 of the prior's.
  std::array<bool, library::kParameterCount> from_prior{};
};

// At least one point (asserted). The caller gives the fit its name.
[[nodiscard]] LibraryFit fit_library(const library::NodeType& node,
                                     std::vector<library::MeasuredPoint> points,
                                     library::Version version = library::kPublishedVersion);

// Signed relative errors, predicted / measured - 1, of points that were not in a fit.
struct HeldOut {
  library::Shape shape;          // {0, 0}: every second size of each operation
  std::vector<double> physical;  // of the model alone
  std::vector<double> corrected; // with the correction by residuals
};

// A refit without each shape in turn, and its errors on that shape; empty with one shape. Shapes
// ascend.
[[nodiscard]] std::vector<HeldOut> leave_shapes_out(const LibraryFit& fit);
// A refit on every second size of each operation and shape, and its errors on the others; without
// errors where no operation and shape has two sizes.
[[nodiscard]] HeldOut leave_sizes_out(const LibraryFit& fit);

struct ErrorNumbers {
  std::size_t points{};
  double median{};  // of |error|
  double p90{};     // of |error|, linear between two points
  double largest{}; // |error|
  double sign{};    // mean sign: 1 = always too slow, -1 = always too fast
};
// At least one error (asserted).
[[nodiscard]] ErrorNumbers error_numbers(std::span<const double> errors);

} // namespace stepsim::calibrate
