#pragma once
// Corrects a physical model by its residuals at measured points (CLU 7.4), with a Gaussian process
// over log2 of bytes, nodes and GPUs per node.
//
//   d     = (dlog2 bytes / 1.5)^2 + (dlog2 N / 1.5)^2 + (dlog2 G)^2 + 2 if only one point has N = 1
//   k     = 0.2^2 exp(-d / 2), times 0.6 between two operations, 0.1 if one of them is alltoall
//   w     = (K + D)^-1 r, D = 0.07^2 per point, more for a point that disagrees with its neighbours
//   T     = physical * exp(sum of w_i k(a, i))
//
// Far from all points the correction is 1.

#include "base/statistics.hpp"
#include "nccl/fit_terms.hpp"

namespace stepsim::nccl {

struct KrigingPoint {
  Operation operation{};
  double log2_bytes{};
  double log2_nodes{};
  double log2_gpus{};

  [[nodiscard]] static KrigingPoint of(Operation operation, Shape shape, double bytes);
};

struct Kriging {
  std::vector<KrigingPoint> points;
  std::vector<double> weights;   // [point] w
  std::vector<double> variances; // [point] D

  // Returns the logarithm of the correction factor at `at`.
  [[nodiscard]] double log_correction(const KrigingPoint& at) const;
};

// Returns the correction for `residuals`, log(measured / physical) of every point. Three rounds of
// re-weighting reduce the influence of points that disagree with their neighbours.
[[nodiscard]] Kriging krige(std::vector<KrigingPoint> points, std::span<const double> residuals);

// The library model of one system after a fit (CLU 8): the node type, the parameters, the estimate
// that picks algorithm and protocol, and the fitted points. The correction by residuals (CLU 7.4)
// and the size of prediction errors (CLU 7.5) follow from these; both are computed once, here.

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

// How far a prediction may be off (CLU 7.5): the 95 % interval T exp(-+1.96 s) with
//
//   s^2 = j^T C j + 0.03^2 + s0^2 + s1^2       j: derivatives of log T by the parameters
//
// C is the posterior covariance, s0 the typical misfit of the training points, and s1 the largest
// misfit of the three points of the same shape, of any operation, that are nearest in size, 0 if
// the shape was not measured. Without a calibration C is the covariance of the priors, s0 and s1
// are 0, and below 32 MiB (log 2)^2 is added to s^2, because published constants are then often too
// fast by a factor of two.

// A normal distribution has 95 % within this many standard deviations.
inline constexpr double kQuantile95 = 1.96;

// Below this many bytes, published constants alone are not reliable.
inline constexpr double kSmallMessage = 32.0 * 1024 * 1024;

// Returns s, the standard deviation of log T by the physical model for the pair. `calibration` may
// be null.
[[nodiscard]] double log_deviation(const LibraryModel& model, const Calibration* calibration,
                                   const Layout& layout, Operation operation, Shape shape,
                                   double bytes, Pair pair);

// Returns the 95 % interval around `seconds` for s = `deviation`. `seconds` may be corrected by
// residuals.
[[nodiscard]] base::Interval interval_95(double seconds, double deviation);

} // namespace stepsim::nccl
