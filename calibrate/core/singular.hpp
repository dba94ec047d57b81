#pragma once
// Singular value decomposition X = U S V^T of a matrix with any number of rows and at most three
// columns, by one-sided Jacobi rotations: pairs of columns are rotated until all columns are
// orthogonal; the lengths of the columns are then the singular values. Small values keep an
// absolute accuracy of 1e-16 of the largest one; by the eigenvalues of X^T X, values below 1e-8 of
// the largest would be lost.
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace stepsim::calibrate {

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
