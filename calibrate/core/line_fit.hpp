#pragma once
// A measured time over size as a line t = A + B n with equal *relative* errors (CAL 4.2):
//
//   minimise  sum_i w_i (A + B n_i - t_i)^2,   w_i = 1/t_i^2,   A, B >= 0
//
// Plain least squares lets the largest message decide: negative latencies, and errors of 80 % at
// the small end. Huber weights min(1, 1.345 s/|r|) with r relative and s = 1.4826 median |r| hold
// outliers down; they are for repeated measurements, as a kink in a table is structure (CAL D2).
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
  bool startup_at_bound = false; // the free optimum is negative: held at 0
  bool per_byte_at_bound = false;
  [[nodiscard]] double seconds(double bytes) const { return startup_s + per_byte_s * bytes; }
};

struct LineFit {
  Line line;
  // [datum] w_i, with `huber` times the Huber weight, with which `line` was found.
  std::vector<double> weights;
};

// Both need two different sizes (asserted).
[[nodiscard]] LineFit fit_line(std::span<const Datum> data, Robust robust = Robust::none);
// Ordinary least squares, unbounded: for comparison only (CAL D1).
[[nodiscard]] Line fit_ordinary(std::span<const Datum> data);

// (A + B n - t) / t
[[nodiscard]] double relative_error(const Line& line, const Datum& datum);
// sum ((A + B n - t) / t)^2
[[nodiscard]] double relative_squares(const Line& line, std::span<const Datum> data);

} // namespace stepsim::calibrate
