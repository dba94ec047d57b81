#pragma once
// Fits a line t = A + B n to measured times t_i of n_i bytes, with equal *relative* errors
// (CAL 4.2):
//
//   minimise  sum_i w_i (A + B n_i - t_i)^2,   w_i = 1/t_i^2,   A, B >= 0
//
// In plain least squares the largest message decides, which gives negative latencies and errors of
// 80 % for small messages. Huber weights min(1, 1.345 s/|r|), with relative residuals r and s =
// 1.4826 median |r|, limit the effect of outliers. They are meant for repeated measurements,
// because a kink in a table of single times is structure (CAL D2).
#include <span>
#include <vector>

namespace stepsim::calibrate {

struct Datum {
  double bytes{};   // > 0
  double seconds{}; // > 0
};

enum class Robust { none, huber };

struct Line {
  double startup_s{};            // A
  double per_byte_s{};           // B
  bool startup_at_bound = false; // the unconstrained optimum is negative: held at 0
  bool per_byte_at_bound = false;
  [[nodiscard]] double seconds(double bytes) const { return startup_s + per_byte_s * bytes; }
};

struct LineFit {
  Line line;
  // [datum] final weight: w_i, multiplied by the Huber weight if `robust` is huber.
  std::vector<double> weights;
};

// Both need at least two different sizes (asserted).
[[nodiscard]] LineFit fit_line(std::span<const Datum> data, Robust robust = Robust::none);
// Ordinary least squares without bounds, for comparison only (CAL D1).
[[nodiscard]] Line fit_ordinary(std::span<const Datum> data);

// (A + B n - t) / t
[[nodiscard]] double relative_error(const Line& line, const Datum& datum);
// sum ((A + B n - t) / t)^2
[[nodiscard]] double relative_squares(const Line& line, std::span<const Datum> data);

} // namespace stepsim::calibrate
