// Rows are multiplied by the roots of their weights, and the columns made orthogonal one after the
// other (modified Gram-Schmidt): what is left of a column tells whether the data determine its
// value. Huber weights are found by repeating the fit (iteratively reweighted least squares).
#include "calibrate/core/least_squares.hpp"

#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/collected.hpp"

namespace stepsim::calibrate {

namespace {

constexpr double kRankTolerance = 1e-6; // of the length of a column

using Column = std::vector<double>; // [row]

double dot(const Column& a, const Column& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Takes the part of `column` away that lies along `unit`, and returns its length.
double take_along(const Column& unit, Column& column) {
  const double length = dot(unit, column);
  for (std::size_t i = 0; i < column.size(); ++i) {
    column[i] -= length * unit[i];
  }
  return length;
}

// Solves R x = right for the columns of the solution; R is upper triangular.
Counts solved(const std::array<Counts, kMostColumns>& R, const Columns& columns, Counts right) {
  for (std::size_t j = kMostColumns; j-- > 0;) {
    for (std::size_t k = j + 1; k < kMostColumns; ++k) {
      right[j] -= R[j][k] * right[k];
    }
    right[j] = columns[j] ? right[j] / R[j][j] : 0;
  }
  return right;
}

// The least-squares solution without bounds, for the identifiable columns only.
Solution free_solution(std::span<const JointRow> rows, std::span<const double> weights,
                       const Columns& columns) {
  const auto scaled = [&](auto value) {
    Column column(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      column[i] = std::sqrt(weights[i]) * value(rows[i]);
    }
    return column;
  };
  Solution solution;
  std::array<Counts, kMostColumns> R{};
  std::array<Column, kMostColumns> units;
  Counts along{};
  Column rest = scaled([](const JointRow& row) { return row.seconds; });
  for (std::size_t j = 0; j < kMostColumns; ++j) {
    Column column = scaled([&](const JointRow& row) { return columns[j] ? row.counts[j] : 0; });
    const double length = std::sqrt(dot(column, column));
    for (std::size_t k = 0; k < j; ++k) {
      R[k][j] = solution.columns[k] ? take_along(units[k], column) : 0;
    }
    R[j][j] = std::sqrt(dot(column, column));
    solution.columns[j] = R[j][j] > kRankTolerance * length;
    if (solution.columns[j]) {
      std::ranges::transform(column, column.begin(), [&](double each) { return each / R[j][j]; });
      along[j] = take_along(column, rest);
      units[j] = std::move(column);
    }
  }
  solution.values = solved(R, solution.columns, along);
  for (std::size_t k = 0; k < kMostColumns; ++k) { // the columns of the inverse of R
    Counts right{};
    right[k] = solution.columns[k] ? 1 : 0;
    right = solved(R, solution.columns, right);
    for (std::size_t j = 0; j < kMostColumns; ++j) {
      solution.variances[j] += right[j] * right[j];
    }
  }
  solution.squares = dot(rest, rest);
  return solution;
}

bool is_allowed(const Solution& solution) {
  return std::ranges::all_of(solution.values, [](double value) { return value >= 0; });
}

// 1/t^2.
std::vector<double> relative_weights(std::span<const JointRow> rows) {
  static constexpr double kShortest = 1e-100; // s, whose square is a number
  return base::collected<double>(rows, [](const JointRow& row) {
    const double seconds = std::max(row.seconds, kShortest);
    return 1 / (seconds * seconds);
  });
}

constexpr double kHuber = 1.345;   // 95 % efficiency for normal errors
constexpr double kSpread = 1.4826; // median |r| of normal errors -> their standard deviation
constexpr double kExact = 1e-12;   // spread of data on a line
constexpr double kSettled = 1e-10; // relative change of A and B
constexpr int kRounds = 200;

std::vector<JointRow> rows_of(std::span<const Datum> data) {
  return base::collected<JointRow>(data, [](const Datum& datum) {
    return JointRow{{1, datum.bytes, 0}, datum.seconds};
  });
}

Line best_line(std::span<const JointRow> rows, std::span<const double> weights) {
  const Solution best = least_squares(rows, weights).best;
  return {best.values[0], best.values[1], !best.columns[0], !best.columns[1]};
}

// The line no longer moves.
bool settled(double before, double after) {
  return std::abs(after - before) <= kSettled * std::abs(before);
}

} // namespace

// A convex function: where its free minimum is not allowed, the best allowed one is the free
// minimum of a subset of the columns. With at most three there are seven.
BoundedSolution least_squares(std::span<const JointRow> rows, std::span<const double> weights) {
  const Solution free = free_solution(rows, weights, {true, true, true});
  if (is_allowed(free)) {
    return {free, free};
  }
  Solution best{.squares = std::numeric_limits<double>::infinity()};
  for (unsigned mask = (1U << kMostColumns) - 1; mask > 0; --mask) {
    Columns columns{};
    for (std::size_t j = 0; j < kMostColumns; ++j) {
      columns[j] = free.columns[j] && (mask >> j & 1U) != 0;
    }
    const Solution solution = free_solution(rows, weights, columns);
    if (is_allowed(solution) && solution.squares < best.squares) {
      best = solution;
    }
  }
  return {free, best};
}

base::Interval interval_of(double value, double variance, double squares, std::size_t freedom) {
  const double half = base::student_t(0.975, freedom) *
                      std::sqrt(squares / static_cast<double>(freedom) * variance);
  return {std::max(0.0, value - half), value + half};
}

JointFit fit_jointly(std::span<const JointRow> rows) {
  assert(!rows.empty() && "a fit needs data");
  const auto [free, best] = least_squares(rows, relative_weights(rows));
  JointFit fit;
  fit.values = best.values;
  fit.identifiable = free.columns;
  const auto fitted = static_cast<std::size_t>(std::ranges::count(best.columns, true));
  for (std::size_t j = 0; j < kMostColumns; ++j) {
    if (best.columns[j] && rows.size() > fitted) {
      fit.intervals[j] =
          interval_of(best.values[j], best.variances[j], best.squares, rows.size() - fitted);
    }
  }
  for (const JointRow& row : rows) {
    const double sum =
        std::inner_product(row.counts.begin(), row.counts.end(), best.values.begin(), -row.seconds);
    fit.max_error = std::max(fit.max_error, std::abs(sum / row.seconds));
  }
  return fit;
}

// Positive where the line is above the measurement.
double relative_error(const Line& line, const Datum& datum) {
  return (line.seconds(datum.bytes) - datum.seconds) / datum.seconds;
}

double relative_squares(const Line& line, std::span<const Datum> data) {
  double sum = 0;
  for (const Datum& datum : data) {
    const double error = relative_error(line, datum);
    sum += error * error;
  }
  return sum;
}

bool has_two_sizes(std::span<const Datum> data) {
  return std::ranges::any_of(data, [&](const Datum& d) { return d.bytes != data.front().bytes; });
}

// Points further from the line than 1.345 robust standard deviations count less, in proportion; the
// spread is estimated from the median, which a few bad points do not move.
LineFit fit_line(std::span<const Datum> data, Robust robust) {
  assert(has_two_sizes(data) && "a line needs two different sizes");
  const std::vector<JointRow> rows = rows_of(data);
  const std::vector<double> relative = relative_weights(rows);
  LineFit fit{best_line(rows, relative), relative};
  if (robust == Robust::none) {
    return fit;
  }
  for (int round = 0; round < kRounds; ++round) {
    const auto errors = base::collected<double>(
        data, [&](const Datum& datum) { return std::abs(relative_error(fit.line, datum)); });
    const double spread = kSpread * base::median(errors);
    if (spread < kExact) {
      return fit;
    }
    for (std::size_t i = 0; i < data.size(); ++i) {
      const double most = kHuber * spread;
      fit.weights[i] = relative[i] * (errors[i] <= most ? 1 : most / errors[i]);
    }
    const Line before = fit.line;
    fit.line = best_line(rows, fit.weights);
    if (settled(before.startup_s, fit.line.startup_s) &&
        settled(before.per_byte_s, fit.line.per_byte_s)) {
      return fit;
    }
  }
  return fit;
}

LineIntervals table_intervals(const LineFit& fit, std::span<const Datum> data) {
  LineIntervals intervals;
  if (data.size() < 3) {
    return intervals;
  }
  const auto [free, best] = least_squares(rows_of(data), fit.weights);
  const auto around = [&](std::size_t column) {
    return interval_of(best.values[column], free.variances[column], best.squares, data.size() - 2);
  };
  if (!fit.line.startup_at_bound) {
    intervals.startup_s = around(0);
  }
  if (!fit.line.per_byte_at_bound) {
    intervals.per_byte_s = around(1);
  }
  return intervals;
}

} // namespace stepsim::calibrate
