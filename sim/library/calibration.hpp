#pragma once
// The library model of one system after a fit (CLU 8): node type, parameters, which estimate picks
// the pair, and the points that it was fitted to. From these follow the correction by residuals
// (CLU 7.4) and how far predictions can be off (CLU 7.5); both are computed once, here.
#include <string>
#include <vector>

#include "library/fit_terms.hpp"
#include "library/kriging.hpp"

namespace stepsim::library {

// What a file of kind library_calibration holds.
struct FittedLibrary {
  std::string name;
  NodeType node;
  Choice choice = Choice::published;
  Version version = kPublishedVersion;
  Parameters parameters = prior_means();
  std::vector<MeasuredPoint> points; // sorted by operation, nodes, GPUs, bytes
};

struct Calibration {
  FittedLibrary fitted;
  Multipliers multipliers;
  Kriging kriging;
  // [point of `fitted`] |log(measured / corrected model)|.
  std::vector<double> misfits;
  double smallest_bytes{}; // of the points
  double largest_bytes{};
  // Posterior of the parameters: inverse Hessian times the factor phi for data that scatter more
  // than the objective expects, [kParameterCount^2].
  std::vector<double> covariance;
};

// Sorts the points. Throws UsageError as FitPoints does, and where there is no point.
[[nodiscard]] Calibration calibration_of(FittedLibrary fitted);

// Order of points in files and fits: by operation, nodes, GPUs, bytes.
[[nodiscard]] bool before(const MeasuredPoint& a, const MeasuredPoint& b);

} // namespace stepsim::library
