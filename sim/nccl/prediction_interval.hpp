#pragma once
// How far a prediction may be off (CLU 7.5): the 95 % interval T exp(-+1.96 s) with
//
//   s^2 = j^T C j + 0.03^2 + s0^2 + s1^2       j: derivatives of log T by the parameters
//
// C is the posterior covariance, s0 the typical misfit of the training points, and s1 the largest
// misfit of the three points of the same shape, of any operation, that are nearest in size, 0 if
// the shape was not measured. Without a calibration C is the covariance of the priors, s0 and s1
// are 0, and below 32 MiB (log 2)^2 is added to s^2, because published constants are then often too
// fast by a factor of two.
#include "base/mean_interval.hpp"
#include "nccl/calibration.hpp"

namespace stepsim::nccl {

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
