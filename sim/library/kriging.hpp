#pragma once
// Correction of a physical model by its residuals at measured points (CLU 7.4): a Gaussian process
// over log2 of bytes, nodes and GPUs per node.
//
//   d     = (dlog2 bytes / 1.5)^2 + (dlog2 N / 1.5)^2 + (dlog2 G)^2 + 2 where one of two has N = 1
//   k     = 0.2^2 exp(-d / 2), times 0.6 between two operations, 0.1 between alltoall and another
//   w     = (K + D)^-1 r, D = 0.07^2 per point, more where a point does not fit its neighbours
//   T     = physical * exp(sum of w_i k(a, i))
//
// Far from all points the correction is 1.
#include <span>
#include <vector>

#include "library/layout.hpp"

namespace stepsim::library {

struct KrigingPoint {
  Operation operation{};
  double log2_bytes{};
  double log2_nodes{};
  double log2_gpus{};

  [[nodiscard]] static KrigingPoint of(Operation operation, Shape shape, double bytes);
};

struct Kriging {
  std::vector<KrigingPoint> points;
  std::vector<double> weights;   // w, one per point
  std::vector<double> variances; // D, one per point

  // Logarithm of the factor at `at`.
  [[nodiscard]] double log_correction(const KrigingPoint& at) const;
};

// `residuals`: log(measured / physical) of every point. Three rounds of re-weighting give a point
// that lies off its neighbours less to say.
[[nodiscard]] Kriging krige(std::vector<KrigingPoint> points, std::span<const double> residuals);

} // namespace stepsim::library
