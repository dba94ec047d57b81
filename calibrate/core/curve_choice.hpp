#pragma once
// Chooses the curve that a calibration keeps for one group of times:
//
//   lines    up to three line segments (CAL 4.3)
//   points   one point per size, joined by straight lines (links::curve_through). Times that fall
//            with size are pooled (isotonic regression in log t), because a larger message is not
//            faster
//
// Both are judged by leave-one-out errors: each size between the smallest and the largest is left
// out in turn, the curve is fitted again to the other sizes, and its time for the missing size is
// compared with the measured one. The points are chosen in two cases:
//   - the lines fitted to all sizes miss the time of a size (of repeated times the median) by 10 %
//     or more: a kink is structure (CAL D2);
//   - the 90th percentile (nearest rank) of the leave-one-out errors is 10 % or more for the lines,
//     and smaller for the points than for the lines.
// Two sizes always give a line, unless points are required.
#include <optional>
#include <span>
#include <vector>

#include "calibrate/core/line_fit.hpp"
#include "calibrate/core/points.hpp"
#include "links/profile/profile.hpp"

namespace stepsim::calibrate {

inline constexpr double kGoodError = 0.10; // |relative error| below which a fit is good
// Least number of repetitions per size that shows outliers.
inline constexpr std::size_t kRobustPasses = 3;

// Relative errors, as magnitudes, on sizes that were left out.
struct LeftOutErrors {
  double median{}, p90{}, most{}; // p90 by nearest rank
};

struct CurveChoice {
  std::vector<links::CurvePoint> points;  // empty if the curve is made of lines
  std::vector<links::CurveSegment> curve; // the lines, or the segments between points
  std::vector<double> bic;                // BIC of 1, 2 and 3 lines, if there are enough points
  // [size] time that the curve fitted without this size predicts; empty for the first and last
  // size.
  std::vector<std::optional<double>> left_out_s;
  std::optional<LeftOutErrors> left_out; // empty for a group of two sizes
};

// The single line of a group. With Huber weights and at least kRobustPasses passes it is fitted to
// all samples instead of the medians, so that single slow samples lose weight; a median hides them.
[[nodiscard]] LineFit line_of(const Group& group, Robust robust);
// The times to which line_of() fits the line.
[[nodiscard]] std::vector<Datum> line_data(const Group& group, Robust robust);

// Chooses the curve as described above. `keep_points` forces the points, even with two sizes.
[[nodiscard]] CurveChoice choose_curve(const Group& group, Robust robust, bool keep_points = false);

} // namespace stepsim::calibrate
