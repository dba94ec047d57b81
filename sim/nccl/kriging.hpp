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
#include <span>
#include <vector>

#include "nccl/layout.hpp"

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

} // namespace stepsim::nccl
