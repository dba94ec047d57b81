#include "base/cholesky.hpp"

#include <cassert>
#include <cmath>
#include <utility>

namespace stepsim::base {

std::optional<Cholesky> cholesky(std::vector<double> matrix, std::size_t size) {
  assert(matrix.size() == size * size && "the matrix is square");
  for (std::size_t i = 0; i < size; ++i) {
    double* const row = &matrix[i * size];
    for (std::size_t j = 0; j <= i; ++j) {
      const double* const other = &matrix[j * size];
      double rest = row[j];
      for (std::size_t k = 0; k < j; ++k) {
        rest -= row[k] * other[k];
      }
      if (i != j) {
        row[j] = rest / other[j];
      } else if (rest > 0) {
        row[i] = std::sqrt(rest);
      } else {
        return std::nullopt;
      }
    }
  }
  return Cholesky{size, std::move(matrix)};
}

std::vector<double> solve(const Cholesky& factor, std::span<const double> right) {
  assert(right.size() == factor.size && "one number per row");
  const std::size_t n = factor.size;
  const auto& lower = factor.lower;
  std::vector<double> x(right.begin(), right.end());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      x[i] -= lower[i * n + k] * x[k];
    }
    x[i] /= lower[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    x[i] /= lower[i * n + i];
    for (std::size_t k = 0; k < i; ++k) {
      x[k] -= lower[i * n + k] * x[i];
    }
  }
  return x;
}

std::vector<double> inverse(const Cholesky& factor) {
  const std::size_t n = factor.size;
  std::vector<double> result(n * n);
  std::vector<double> unit(n);
  for (std::size_t j = 0; j < n; ++j) {
    unit[j] = 1;
    const std::vector<double> column = solve(factor, unit);
    unit[j] = 0;
    for (std::size_t i = 0; i < n; ++i) {
      result[i * n + j] = column[i];
    }
  }
  return result;
}

} // namespace stepsim::base
