#pragma once
// 95 % intervals of A and B of a line t = A + B n (CAL 4.4).
//
//   table      value +- t(0.975, N-2) sqrt(var);  s^2 = sum w (A + B n - t)^2 / (N-2) over N sizes,
//              D = sum w sum w n^2 - (sum w n)^2, var A = s^2 sum w n^2 / D, var B = s^2 sum w / D
//   repeated   percentiles of 200 lines through resampled passes: what repeats together (one pass
//              over all sizes) is drawn together. Reproducible: a stream of the seed.
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

// Student's t with N - 2 degrees of freedom, where every size has one time. Both empty for fewer
// than 3 sizes.
[[nodiscard]] LineIntervals table_intervals(const LineFit& fit, std::span<const Datum> data);

// Needs two passes (asserted). Contains the values of `line`. Both empty where no resample has two
// sizes.
[[nodiscard]] LineIntervals bootstrap_intervals(const Line& line, const Group& group, Robust robust,
                                                std::uint64_t seed);

} // namespace stepsim::calibrate
