#pragma once
// Fits the cost of a link to measured times of collectives (CAL 4.5). The time of a collective is
//
//   t = a alpha + c beta + g gamma        ring all-reduce: 2(P-1), 2(P-1)/P n, (P-1)/P n
//
// where the counts a, c and g follow from its algorithm, P ranks and n bytes. Times of several
// collectives therefore give alpha (s per message), beta (s per byte) and gamma (s per byte added)
// in one least-squares fit of relative errors, with no value below 0. The singular values of the
// weighted design matrix, its columns scaled to unit length, show which values the data determine.
// Most all-reduces have c = 2 g, so that all-reduces alone never separate beta from gamma, whatever
// P is; times of recursive doubling (c = g) or of a broadcast (g = 0) separate them.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/statistics.hpp"

namespace stepsim::calibrate {

using Counts = std::array<double, 3>; // a, c, g; in JointFit::values alpha, beta, gamma

// The counts a, c and g in the closed form (COL 5) of a collective of `bytes` bytes. `pingpong` is
// one message of `bytes`, whatever `algorithm` and `ranks` are. Empty for fewer than two ranks or
// more than io::keys::kMostRanks, an unknown operation or algorithm, an operation that the
// algorithm does not have, allgatherv, algorithms that add in switches, and closed forms that are
// not linear in alpha, beta and gamma (such as pipelines with an optimal block).
[[nodiscard]] std::optional<Counts> cost_counts(std::string_view op, std::string_view algorithm,
                                                std::int64_t ranks, double bytes);

struct JointRow {
  Counts counts;
  double seconds{}; // > 0
};

struct JointFit {
  Counts values{}; // alpha, beta, gamma
  // false: the data do not determine the value. It is then 0, and the other values carry its part
  // of the times.
  std::array<bool, 3> identifiable{};
  // 95 % confidence; empty for a value held at 0, and if there are no more rows than fitted values.
  std::array<std::optional<base::Interval>, 3> intervals;
  // Smallest singular value divided by the largest, for the weighted matrix with all three columns.
  double smallest_singular_value{};
  double max_error{}; // largest |relative error| of a row
};

// Fits `rows`, of which there must be at least one (asserted). While the data cannot tell values
// apart, one of these is left out: gamma before beta, beta before alpha.
[[nodiscard]] JointFit fit_jointly(std::span<const JointRow> rows);

// Singular value decomposition X = U S V^T of a matrix with any number of rows and at most three
// columns, by one-sided Jacobi rotations: pairs of columns are rotated until all columns are
// orthogonal; the lengths of the columns are then the singular values. Small values keep an
// absolute accuracy of 1e-16 of the largest one; by the eigenvalues of X^T X, values below 1e-8 of
// the largest would be lost.

inline constexpr std::size_t kMostColumns = 3;
using Row = std::array<double, kMostColumns>; // unused columns are 0

struct Singular {
  std::size_t columns{};
  std::vector<Row> scaled_left;          // U S
  std::array<Row, kMostColumns> right{}; // right[j] = column j of V
  Row values{};                          // S, not sorted
};

// `columns` is at most 3 (asserted); entries of a row beyond `columns` must be 0. values[k] belongs
// to right[k]; with fewer rows than columns, some values are about 0.
[[nodiscard]] Singular decompose(std::span<const Row> matrix, std::size_t columns);

} // namespace stepsim::calibrate
