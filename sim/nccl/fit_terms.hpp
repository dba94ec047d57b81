#pragma once
// The objective whose minimum calibrates the library model, and its linearisation (CLU 8.3):
//
//   z = log(model / measured) / 0.08
//   objective = sum of Huber(z; 1.5) + sum of ((theta - mean) / sd)^2 / 2
//
// The Gauss-Newton Hessian at the best parameters is also the posterior precision, from which the
// intervals of predictions follow (CLU 7.5).

#include "nccl/candidates.hpp"

namespace stepsim::nccl {

// A measured time for one operation, shape and size.
struct MeasuredPoint {
  Operation operation{};
  Shape shape;
  double bytes{};        // > 0
  double measured_s{};   // median, > 0
  std::size_t count = 1; // number of times behind the median; not used in the fit
};

// The measured points of one node type, with all values that do not depend on the parameters.
class FitPoints {
public:
  // Throws UsageError if a shape does not fit the node type (layout_of()) or if the restrictions
  // leave no algorithm and protocol (choose_pair()).
  FitPoints(const NodeType& node, std::span<const MeasuredPoint> points, Choice choice,
            const Restrictions& restrictions);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] double measured_s(std::size_t i) const { return entries_[i].measured_s; }
  // Returns the seconds of point i by the physical model: of the pair that NCCL itself picks
  // (Choice::published), or of the fastest pair at these multipliers (calibrated).
  [[nodiscard]] double seconds(std::size_t i, const Multipliers& multipliers) const;
  // Returns z of every point.
  [[nodiscard]] std::vector<double> misfits(const Parameters& parameters) const;

private:
  struct Entry {
    Layout layout;
    Operation operation{};
    double bytes{};
    double measured_s{};
    Pair published;
  };
  std::vector<Entry> entries_;
  LibraryModel model_; // the choice and the restrictions; its multipliers are not used
};

// Return the first and the second sum of the objective.
[[nodiscard]] double data_objective(std::span<const double> misfits);
[[nodiscard]] double prior_objective(const Parameters& parameters);

struct NormalEquations {
  std::vector<double> hessian; // [kParameterCount^2], positive definite by the priors
  Parameters gradient{};
};

// Linearises the objective at `parameters`, whose misfits are given, with derivatives by steps of
// 1e-4 and Huber weights min(1, 1.5 / |z|).
[[nodiscard]] NormalEquations normal_equations(const FitPoints& points,
                                               const Parameters& parameters,
                                               std::span<const double> misfits);

inline constexpr double kDerivativeStep = 1e-4;

} // namespace stepsim::nccl
