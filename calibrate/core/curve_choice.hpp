#pragma once
// The curve that a calibration keeps for one group of times: up to three straight lines (CAL 4.3),
// or the measured points.
//
//   points   one per size; times that fall with size are pooled (isotonic in log t), because a
//            larger message is no faster; straight lines between them (net::curve_through)
//
// Both are judged by leave-one-out errors: each size between the smallest and the largest is left
// out in turn, lines and the sizes where they meet are fitted again to the others, and the time
// that this fit predicts for the size is compared with the measured one. The points are taken where
// the lines miss a measured size by 10 % or more, because a kink in a table is structure (CAL D2),
// and where the 90th percentile (nearest rank) of the leave-one-out errors is 10 % or more for the
// lines and smaller for the points than for the lines. Two sizes always give the line.
#include <optional>
#include <span>
#include <vector>

#include "calibrate/core/line_fit.hpp"
#include "calibrate/core/points.hpp"
#include "net/profile/profile.hpp"

namespace stepsim::calibrate {

inline constexpr double kGoodError = 0.10;      // |relative|: a fit with smaller errors is good
inline constexpr std::size_t kRobustPasses = 3; // from so many repetitions on outliers show

// |relative| errors on sizes that were left out.
struct LeftOutErrors {
  double median{}, p90{}, most{}; // p90 by nearest rank
};

struct CurveChoice {
  std::vector<net::CurvePoint> points;  // empty where the curve is lines
  std::vector<net::CurveSegment> curve; // the lines, or the lines from point to point
  std::vector<double> bic;              // of 1, 2, 3 lines, as far as there are points
  // Per size what the curve of the other sizes gives it; empty for the smallest and the largest.
  std::vector<std::optional<double>> left_out_s;
  std::optional<LeftOutErrors> left_out; // empty for two sizes
};

// The single line of a group: with Huber weights and at least kRobustPasses it is fitted to all
// samples and not to medians, because single slow samples then lose weight, whereas a median has
// hidden them.
[[nodiscard]] LineFit line_of(const Group& group, Robust robust);
// The times that line_of fits.
[[nodiscard]] std::vector<Datum> line_data(const Group& group, Robust robust);

// `keep_points`: the points are taken whatever the lines would do, also with two sizes.
[[nodiscard]] CurveChoice choose_curve(const Group& group, Robust robust, bool keep_points = false);

} // namespace stepsim::calibrate
