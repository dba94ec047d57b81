#pragma once
// The library model of one system after a fit (CLU 8): the node type, the parameters, the estimate
// that picks algorithm and protocol, and the fitted points. The correction by residuals (CLU 7.4)
// and the size of prediction errors (CLU 7.5) follow from these; both are computed once, here.
#include <string>
#include <vector>

#include "nccl/fit_terms.hpp"
#include "nccl/kriging.hpp"

namespace stepsim::nccl {

// The content of a file of kind library_calibration.
struct FittedLibrary {
  std::string name;
  NodeType node;
  Choice choice = Choice::published;
  Version version = kPublishedVersion;
  Parameters parameters = prior_means();
  std::vector<MeasuredPoint> points; // sorted by before()
};

struct Calibration {
  FittedLibrary fitted;
  Multipliers multipliers;
  Kriging kriging;
  // [point of `fitted`] |log(measured / corrected model)|.
  std::vector<double> misfits;
  double smallest_bytes{}; // least size of a measured point
  double largest_bytes{};  // greatest size of a measured point
  // [kParameterCount^2] posterior covariance of the parameters: the inverse Hessian times a factor
  // phi, for data that scatter more than the objective expects.
  std::vector<double> covariance;
};

// Sorts the points and computes the calibration. Throws UsageError if there is no point or if
// FitPoints throws it, for example for a point that does not fit the node type.
[[nodiscard]] Calibration calibration_of(FittedLibrary fitted);

// Whether `a` comes before `b` in files and fits: by operation, nodes, GPUs, bytes, measured time.
[[nodiscard]] bool before(const MeasuredPoint& a, const MeasuredPoint& b);

} // namespace stepsim::nccl
