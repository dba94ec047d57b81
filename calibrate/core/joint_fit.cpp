// Every time is a sum of counts times alpha, beta and gamma. Rows are divided by their times, so
// that errors are relative; columns are scaled to unit length, so that seconds and seconds per byte
// can be compared. Singular values then tell which of the three the data determine.
#include "calibrate/core/joint_fit.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "collectives/algorithms.hpp"
#include "scenario/files/keys/samples_keys.hpp"

namespace stepsim::calibrate {

// One-sided Jacobi: columns are turned against each other, two at a time, until all are orthogonal;
// their lengths are then the singular values. For three columns it is as short as it is accurate.

namespace {

constexpr double kOrthogonal = 1e-15; // cosine between columns
constexpr int kSweeps = 60;           // it converges quadratically; a few are enough

// Makes columns p and q orthogonal; false if they are.
bool rotate(Singular& s, std::size_t p, std::size_t q) {
  double pp = 0;
  double qq = 0;
  double pq = 0;
  for (const Row& row : s.scaled_left) {
    pp += row[p] * row[p];
    qq += row[q] * row[q];
    pq += row[p] * row[q];
  }
  if (std::abs(pq) <= kOrthogonal * std::sqrt(pp * qq)) {
    return false;
  }
  const double zeta = (qq - pp) / (2 * pq);
  const double tangent = std::copysign(1.0, zeta) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
  const double cosine = 1 / std::sqrt(1 + tangent * tangent);
  const double sine = cosine * tangent;
  const auto turn = [&](double& a, double& b) {
    const double old = a;
    a = cosine * old - sine * b;
    b = sine * old + cosine * b;
  };
  for (Row& row : s.scaled_left) {
    turn(row[p], row[q]);
  }
  for (std::size_t i = 0; i < s.columns; ++i) {
    turn(s.right[p][i], s.right[q][i]);
  }
  return true;
}

} // namespace

// The right vectors collect the rotations; the left ones stay scaled by the singular values, which
// the fit needs anyway.
Singular decompose(std::span<const Row> matrix, std::size_t columns) {
  assert(columns <= kMostColumns && "at most three columns");
  Singular s;
  s.columns = columns;
  s.scaled_left.assign(matrix.begin(), matrix.end());
  for (std::size_t i = 0; i < columns; ++i) {
    s.right[i][i] = 1;
  }
  bool turned = true;
  for (int sweep = 0; sweep < kSweeps && turned; ++sweep) {
    turned = false;
    for (std::size_t p = 0; p + 1 < columns; ++p) {
      for (std::size_t q = p + 1; q < columns; ++q) {
        turned = rotate(s, p, q) || turned;
      }
    }
  }
  for (std::size_t i = 0; i < columns; ++i) {
    double square = 0;
    for (const Row& row : s.scaled_left) {
      square += row[i] * row[i];
    }
    s.values[i] = std::sqrt(square);
  }
  return s;
}

namespace {

constexpr double kRankTolerance = 1e-6; // of the largest singular value
constexpr double kTouched = 1e-3;       // share of a unit vector
constexpr double kLinear = 1e-12;

using Columns = std::vector<std::size_t>; // which of alpha, beta, gamma

// The lengths of the columns of the design, whose rows are divided by their times, and what it is
// with columns of unit length.
struct Design {
  Row lengths{};
  Singular s;
};

// A column that is 0 in all rows keeps the length 0.
Design design_of(std::span<const JointRow> rows, const Columns& columns) {
  Design design;
  std::vector<Row> matrix;
  for (const JointRow& row : rows) {
    Row& weighted = matrix.emplace_back();
    for (std::size_t j = 0; j < columns.size(); ++j) {
      weighted[j] = row.counts[columns[j]] / row.seconds;
      design.lengths[j] += weighted[j] * weighted[j];
    }
  }
  for (std::size_t j = 0; j < columns.size(); ++j) {
    design.lengths[j] = std::sqrt(design.lengths[j]);
    for (Row& row : matrix) {
      row[j] = design.lengths[j] > 0 ? row[j] / design.lengths[j] : 0;
    }
  }
  design.s = decompose(matrix, columns.size());
  return design;
}

double largest(const Singular& s) { return *std::ranges::max_element(s.values); }

// Whether a column takes part in a combination that the data do not see.
std::array<bool, 3> unseen(const Design& design) {
  const Singular& s = design.s;
  std::array<bool, 3> result{};
  for (std::size_t k = 0; k < s.columns; ++k) {
    for (std::size_t j = 0; j < s.columns && s.values[k] < kRankTolerance * largest(s); ++j) {
      result[j] = result[j] || std::abs(s.right[k][j]) > kTouched;
    }
  }
  for (std::size_t j = 0; j < s.columns; ++j) {
    result[j] = result[j] || design.lengths[j] == 0;
  }
  return result;
}

// Least squares with the columns given, the others 0: x = V S^-1 U^T 1, as every weighted time
// is 1.
Counts solve(std::span<const JointRow> rows, const Columns& columns) {
  const auto [lengths, s] = design_of(rows, columns);
  Counts values{};
  for (std::size_t k = 0; k < columns.size(); ++k) {
    double projected = 0;
    for (const Row& row : s.scaled_left) {
      projected += row[k];
    }
    projected /= s.values[k] * s.values[k];
    for (std::size_t j = 0; j < columns.size(); ++j) {
      values[columns[j]] += s.right[k][j] * projected / lengths[j];
    }
  }
  return values;
}

double relative_error(const JointRow& row, const Counts& values) {
  double sum = -row.seconds;
  for (std::size_t j = 0; j < values.size(); ++j) {
    sum += row.counts[j] * values[j];
  }
  return sum / row.seconds;
}

// The sum of squared relative errors.
double squares(std::span<const JointRow> rows, const Counts& values) {
  double sum = 0;
  for (const JointRow& row : rows) {
    const double error = relative_error(row, values);
    sum += error * error;
  }
  return sum;
}

// The best subset of columns whose free solution has no negative value: with at most three columns
// there are seven.
Columns best_columns(std::span<const JointRow> rows, const Columns& seen) {
  Columns best;
  double least = std::numeric_limits<double>::infinity();
  for (unsigned mask = (1U << seen.size()) - 1; mask > 0; --mask) {
    Columns columns;
    for (std::size_t j = 0; j < seen.size(); ++j) {
      if ((mask >> j & 1U) != 0) {
        columns.push_back(seen[j]);
      }
    }
    const Counts values = solve(rows, columns);
    const bool allowed = std::ranges::all_of(values, [](double value) { return value >= 0; });
    if (allowed && squares(rows, values) < least) {
      least = squares(rows, values);
      best = columns;
    }
  }
  return best;
}

// value +- t sd; the covariance is s^2 V S^-2 V^T, of the columns that are not held at 0.
void set_intervals(std::span<const JointRow> rows, const Columns& columns, JointFit& fit) {
  if (rows.size() <= columns.size()) {
    return;
  }
  const std::size_t freedom = rows.size() - columns.size();
  const double variance = squares(rows, fit.values) / static_cast<double>(freedom);
  const double t = base::student_t(0.975, freedom);
  const auto [lengths, s] = design_of(rows, columns);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    double sum = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      sum += s.right[k][j] * s.right[k][j] / (s.values[k] * s.values[k]);
    }
    const double half = t * std::sqrt(variance * sum) / lengths[j];
    const double value = fit.values[columns[j]];
    fit.intervals[columns[j]] = base::Interval{std::max(0.0, value - half), value + half};
  }
}

} // namespace

// The closed form is evaluated with one of latency, time per byte and time to add a byte set to 1
// and the others to 0. It is linear if these three times add up to the time with all of them set to
// 1; a collective whose closed form is not linear has no counts.
std::optional<Counts> cost_counts(std::string_view op, std::string_view algorithm,
                                  std::int64_t ranks, double bytes) {
  if (op == "pingpong") {
    return Counts{1, bytes, 0};
  }
  const auto known_op = collectives::parse_op(op);
  const auto known_algorithm = collectives::parse_algorithm(algorithm);
  if (!known_op || !known_algorithm || *known_op == collectives::Op::allgatherv ||
      collectives::find_algorithm(*known_op, *known_algorithm) == nullptr || ranks < 2 ||
      ranks > static_cast<std::int64_t>(io::keys::kMostRanks) ||
      collectives::algorithm(*known_algorithm).in_switch) {
    return std::nullopt;
  }
  collectives::Collective collective;
  collective.op = *known_op;
  collective.algorithm = *known_algorithm;
  collective.ranks = static_cast<std::uint32_t>(ranks);
  collective.bytes = bytes;
  collective.options.chunking = collectives::Chunking::real;
  const auto seconds = [&](double alpha, double beta, double gamma) {
    collective.links.all = {.latency_s = alpha, .block_latency_s = alpha, .per_byte_s = beta};
    collective.reduction_s_per_byte = gamma;
    const auto form = collectives::closed_form(collective);
    return form && form->startup_s ? std::optional(form->seconds) : std::nullopt;
  };
  const auto all = seconds(1, 1, 1);
  const auto alpha = seconds(1, 0, 0);
  const auto beta = seconds(0, 1, 0);
  const auto gamma = seconds(0, 0, 1);
  if (!all || !alpha || !beta || !gamma) {
    return std::nullopt;
  }
  const Counts counts{*alpha, *beta, *gamma};
  const double sum = counts[0] + counts[1] + counts[2];
  return std::abs(sum - *all) <= kLinear * *all ? std::optional(counts) : std::nullopt;
}

// Columns that the data do not see are given up one by one, from gamma to alpha: giving up one can
// make the others visible.
JointFit fit_jointly(std::span<const JointRow> rows) {
  assert(!rows.empty() && "a fit needs data");
  JointFit fit;
  Columns columns{0, 1, 2};
  const Singular all = design_of(rows, columns).s;
  fit.smallest_singular_value = *std::ranges::min_element(all.values) / largest(all);
  for (bool done = false; !done && !columns.empty();) { // give up the last column that hides
    const auto hidden = unseen(design_of(rows, columns));
    done = true;
    for (std::size_t j = columns.size(); j-- > 0;) {
      if (hidden[j]) {
        columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(j));
        done = false;
        break;
      }
    }
  }
  for (const std::size_t column : columns) {
    fit.identifiable[column] = true;
  }
  columns = best_columns(rows, columns);
  fit.values = solve(rows, columns);
  set_intervals(rows, columns, fit);
  for (const JointRow& row : rows) {
    fit.max_error = std::max(fit.max_error, std::abs(relative_error(row, fit.values)));
  }
  return fit;
}

} // namespace stepsim::calibrate
