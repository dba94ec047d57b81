// One-sided Jacobi: columns are turned against each other, two at a time, until all are orthogonal;
// their lengths are then the singular values. For three columns it is as short as it is accurate.
#include "calibrate/core/singular.hpp"

#include <cassert>
#include <cmath>

namespace stepsim::calibrate {

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

} // namespace stepsim::calibrate
