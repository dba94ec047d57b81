#pragma once
// How far a prediction can be off (CLU 7.5): the 95 % interval T exp(-+1.96 s) with
//
//   s^2 = j^T C j + 0.03^2 + s0^2 + s1^2       j: derivatives of log T by the parameters
//
// C is the posterior covariance; s0 the typical misfit of the training points, s1 the largest among
// the three of the same shape that are nearest in size. Without a calibration C is that of the
// priors, and below 32 MiB s^2 has (log 2)^2 more, because published constants are then often a
// factor of two too fast.
#include "base/mean_interval.hpp"
#include "library/calibration.hpp"

namespace stepsim::library {

// Deviations of a normal distribution within which 95 % lie.
inline constexpr double kQuantile95 = 1.96;

// Below this many bytes published constants alone are not to be trusted.
inline constexpr double kSmallMessage = 32.0 * 1024 * 1024;

// Standard deviation s of log T of the physical model for the pair. `calibration` may be null.
[[nodiscard]] double log_deviation(const LibraryModel& model, const Calibration* calibration,
                                   const Layout& layout, Operation operation, Shape shape,
                                   double bytes, Pair pair);

// Of `seconds`, which may be corrected.
[[nodiscard]] base::Interval interval_95(double seconds, double deviation);

} // namespace stepsim::library
