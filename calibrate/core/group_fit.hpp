#pragma once
// One group of measurements fitted: a line, its intervals, the curve that the data are worth (few
// lines or the points themselves), how well it fits, and what a user should know (CAL 4.5, 4.6).
//   grade   by the 90th percentile of the errors on sizes that were left out of the fit, one at a
//           time: below 10 % ok, below 25 % warn; otherwise, and where time does not grow with
//           size, fail. Two sizes leave nothing to test: warn
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/core/curve_choice.hpp"
#include "calibrate/core/intervals.hpp"
#include "calibrate/core/line_fit.hpp"
#include "calibrate/core/points.hpp"
#include "net/profile/profile.hpp"

namespace stepsim::calibrate {

using net::Grade;

struct FitOptions {
  std::optional<Robust> robust{}; // empty: huber for 3 passes or more, else none
  std::uint64_t seed = 1;         // of the bootstrap
  bool keep_points = false;       // the curve is the points whatever lines would do
};

struct Residual {
  double bytes{};
  double measured_s{};
  double fitted_s{};
  std::optional<double> left_out_s; // by the fit to all other sizes; not for the first and the last
  [[nodiscard]] double relative_error() const { return (fitted_s - measured_s) / measured_s; }
};

struct GroupFit {
  Group group;
  Robust robust = Robust::none;          // how the line was weighted
  Line line;                             // of all sizes together
  LineIntervals intervals;               // of that line
  std::vector<double> bic;               // of 1, 2, 3 segments, as far as there are points
  std::vector<net::CurveSegment> curve;  // the chosen model
  std::vector<net::CurvePoint> points;   // of that model; empty where it is lines
  std::vector<Residual> residuals;       // of that model at the medians, by size
  double median_error{}, max_error{};    // |relative|, of the model on what it was fitted to
  std::optional<LeftOutErrors> left_out; // empty for two sizes
  Grade grade = Grade::ok;
  // Why the grade is `fail`, in one line: the time does not grow with size, or the two largest
  // errors on sizes left out. "" for other grades.
  std::string failure;
  std::vector<std::string> warnings;
};

// Throws nothing for a group of two sizes or more: what is wrong with a fit is in grade, failure
// and warnings.
[[nodiscard]] GroupFit fit_group(const Group& group, const FitOptions& options);

// ok below 10 %, warn below 25 %, else fail; `error` is |relative|.
[[nodiscard]] Grade grade_of(double error);

} // namespace stepsim::calibrate
