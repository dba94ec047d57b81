#pragma once
// The fit of one group of measurements: a line with confidence intervals, the chosen curve (up to
// three lines, or the points), the errors, a grade, and warnings for the user (CAL 4.5, 4.6).
//   grade   ok if the 90th percentile of the leave-one-out errors is below 10 %, warn if it is
//           below 25 %, else fail. Two sizes give warn, because there are no leave-one-out
//           errors. A time that does not grow with size gives fail in any case

#include "base/statistics.hpp"
#include "calibrate/core/curve_choice.hpp"

namespace stepsim::calibrate {

// 95 % confidence intervals of A (s) and B (s per byte) in a fitted line t = A + B n (CAL 4.4).
//
//   table      one time per size: value +- t(0.975, N-2) sqrt(var), N sizes, w the weights of the
//              fit (line_fit.hpp); s^2 = sum w (A + B n - t)^2 / (N-2),
//              D = sum w sum w n^2 - (sum w n)^2, var A = s^2 sum w n^2 / D, var B = s^2 sum w / D
//   bootstrap  several passes over all sizes: 2.5 and 97.5 % percentiles of 200 lines, each fitted
//              to passes drawn with replacement. A pass is drawn as a whole, because its times have
//              the state of the machine in common. The same seed gives the same intervals.

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

struct GroupFit {
  Group group;
  Robust robust = Robust::none;           // weights of the line
  Line line;                              // one line fitted to all sizes
  LineIntervals intervals;                // 95 % intervals of `line`
  std::vector<double> bic;                // BIC of 1, 2 and 3 segments, if there are enough points
  std::vector<links::CurveSegment> curve; // the chosen curve
  std::vector<links::CurvePoint> points; // points of the chosen curve; empty if it is made of lines
  std::vector<Residual> residuals;       // errors of the chosen curve at the medians, by size
  double median_error{}, max_error{};    // |relative error| of the curve at the sizes of the fit
  std::optional<ErrorSpread> left_out;   // leave-one-out errors; empty for two sizes
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
