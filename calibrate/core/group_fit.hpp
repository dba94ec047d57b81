#pragma once
// The fit of one group of measurements: a line with confidence intervals, the chosen curve (up to
// three lines, or the points), the errors, a grade, and warnings for the user (CAL 4.5, 4.6).
//   grade   ok if the 90th percentile of the leave-one-out errors is below 10 %, warn if it is
//           below 25 %, else fail. Two sizes give warn, because there are no leave-one-out
//           errors. A time that does not grow with size gives fail in any case

#include "calibrate/core/points.hpp"

namespace stepsim::calibrate {

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

// Fits one to three lines to a curve (CAL 4.3). The segments are contiguous, with at least 3 points
// each if there are several; dynamic programming finds the least sum S_k of squared relative errors
// of k segments. The number of segments is chosen by the Bayesian information criterion:
//
//   BIC(k) = N ln(max(S_k, N 1e-12) / N) + (3k - 1) ln N,   k only if lower by more than 6
//
// for N points, where "lower" is lower than the BIC of the number kept so far (a threshold of 2
// still splits ten noisy points).

inline constexpr std::size_t kLeastPoints = 3;  // least points of a segment if there are several
inline constexpr std::size_t kMostSegments = 3; // for measured times

struct Segmentation {
  std::vector<std::size_t> ends; // [segment] index after its last point
  std::vector<Line> lines;       // [segment]
  double squares{};              // S_k
};

// The best k segments of data in strictly ascending size. Needs 2 points for k = 1 and 3 k points
// for k > 1 (asserted).
[[nodiscard]] Segmentation best_segments(std::span<const Datum> data, std::size_t k);

struct SegmentChoice {
  std::vector<double> bic; // BIC of k = 1, 2 .. most, if there are enough points
  Segmentation chosen;
};
// Tries one segment, and 2 .. `most` while there are 3 points for each. Another segment is taken if
// the BIC falls by more than 6 below the BIC of the segments taken so far: BICs of 100, 96 and 92
// for one, two and three segments give three, because 96 is not enough below 100, and 92 is.
[[nodiscard]] SegmentChoice choose_segments(std::span<const Datum> data,
                                            std::size_t most = kMostSegments);

// The segments in the form of a calibration file: each from the size of its first point to the size
// of its last point.
[[nodiscard]] std::vector<links::CurveSegment> curve_of(const Segmentation& segmentation,
                                                        std::span<const Datum> data);

inline constexpr double kGoodError = 0.10; // |relative error| below which a fit is good
// Least number of repetitions per size that shows outliers.
inline constexpr std::size_t kRobustPasses = 3;

struct CurveChoice {
  std::vector<links::CurvePoint> points;  // empty if the curve is made of lines
  std::vector<links::CurveSegment> curve; // the lines, or the segments between points
  std::vector<double> bic;                // BIC of 1, 2 and 3 lines, if there are enough points
  // [size] time that the curve fitted without this size predicts; empty for the first and last
  // size.
  std::vector<std::optional<double>> left_out_s;
  std::optional<ErrorSpread> left_out; // on sizes left out; empty for a group of two sizes
};

// The single line of a group. With Huber weights and at least kRobustPasses passes it is fitted to
// all samples instead of the medians, so that single slow samples lose weight; a median hides them.
[[nodiscard]] LineFit line_of(const Group& group, Robust robust);
// The times to which line_of() fits the line.
[[nodiscard]] std::vector<Datum> line_data(const Group& group, Robust robust);

// Chooses the curve as described above. `keep_points` forces the points, even with two sizes.
[[nodiscard]] CurveChoice choose_curve(const Group& group, Robust robust, bool keep_points = false);

// 95 % confidence intervals of a line (CAL 4.4) measured in several passes over all sizes: 2.5 and
// 97.5 % percentiles of 200 lines, each fitted to passes drawn with replacement, widened where
// needed to contain the value of `line`. A pass is drawn as a whole, because its times have the
// state of the machine in common. The same seed gives the same intervals. Needs two passes
// (asserted). Both are empty if no resample has two sizes.
[[nodiscard]] LineIntervals bootstrap_intervals(const Line& line, const Group& group, Robust robust,
                                                std::uint64_t seed);

using links::Grade;

struct FitOptions {
  std::optional<Robust> robust{}; // empty: huber for 3 passes or more, else none
  std::uint64_t seed = 1;         // seed of the bootstrap
  bool keep_points = false;       // forces the points as the curve
};

struct Residual {
  double bytes{};
  double measured_s{};
  double fitted_s{};
  // Time fitted without this size; empty for the first and last size.
  std::optional<double> left_out_s;
  [[nodiscard]] double relative_error() const { return (fitted_s - measured_s) / measured_s; }
};

// The chosen curve, and what is known of it. Its leave-one-out errors are empty for two sizes.
struct GroupFit : CurveChoice {
  Group group;
  Robust robust = Robust::none;       // weights of the line
  Line line;                          // one line fitted to all sizes
  LineIntervals intervals;            // 95 % intervals of `line`
  std::vector<Residual> residuals;    // errors of the chosen curve at the medians, by size
  double median_error{}, max_error{}; // |relative error| of the curve at the sizes of the fit
  Grade grade = Grade::ok;
  // The reason for the grade `fail` in one line: the time does not grow with size, or the two
  // largest leave-one-out errors. "" for other grades.
  std::string failure;
  std::vector<std::string> warnings;
};

// Fits a group of at least two sizes (asserted). Never throws: problems are in grade, failure and
// warnings.
[[nodiscard]] GroupFit fit_group(const Group& group, const FitOptions& options);

// The grade of a relative error, given as a magnitude: ok below 10 %, warn below 25 %, else fail.
[[nodiscard]] Grade grade_of(double error);

} // namespace stepsim::calibrate
