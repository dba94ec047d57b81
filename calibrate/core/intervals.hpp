#pragma once
// 95 % confidence intervals of A (s) and B (s per byte) in a fitted line t = A + B n (CAL 4.4).
//
//   table      one time per size: value +- t(0.975, N-2) sqrt(var), N sizes, w the weights of the
//              fit (line_fit.hpp); s^2 = sum w (A + B n - t)^2 / (N-2),
//              D = sum w sum w n^2 - (sum w n)^2, var A = s^2 sum w n^2 / D, var B = s^2 sum w / D
//   bootstrap  several passes over all sizes: 2.5 and 97.5 % percentiles of 200 lines, each fitted
//              to passes drawn with replacement. A pass is drawn as a whole, because its times have
//              the state of the machine in common. The same seed gives the same intervals.
#include <cstdint>
#include <optional>
#include <span>

#include "base/mean_interval.hpp"
#include "calibrate/core/line_fit.hpp"
#include "calibrate/core/points.hpp"

namespace stepsim::calibrate {

// Lower ends are >= 0. Empty for a value held at 0.
struct LineIntervals {
  std::optional<base::Interval> startup_s, per_byte_s; // s, s per byte
};

// The intervals `table`. `fit` must be the fit of `data`. Both are empty for fewer than 3 sizes.
[[nodiscard]] LineIntervals table_intervals(const LineFit& fit, std::span<const Datum> data);

// The intervals `bootstrap`, widened where needed to contain the value of `line`. Needs two passes
// (asserted). Both are empty if no resample has two sizes.
[[nodiscard]] LineIntervals bootstrap_intervals(const Line& line, const Group& group, Robust robust,
                                                std::uint64_t seed);

} // namespace stepsim::calibrate
