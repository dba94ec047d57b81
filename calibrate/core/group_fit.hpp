#pragma once
// The fit of one group of measurements: a line with confidence intervals, the chosen curve (up to
// three lines, or the points), the errors, a grade, and warnings for the user (CAL 4.5, 4.6).
//   grade   ok if the 90th percentile of the leave-one-out errors is below 10 %, warn if it is
//           below 25 %, else fail. Two sizes give warn, because there are no leave-one-out
//           errors. A time that does not grow with size gives fail in any case
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/core/curve_choice.hpp"
#include "calibrate/core/intervals.hpp"
#include "calibrate/core/line_fit.hpp"
#include "calibrate/core/points.hpp"
#include "links/profile/profile.hpp"

namespace stepsim::calibrate {

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
  std::optional<LeftOutErrors> left_out; // leave-one-out errors; empty for two sizes
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
