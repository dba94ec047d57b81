#pragma once
// Cholesky factor A = L L^T of a symmetric positive definite matrix, rows one after the other, of
// which only the lower triangle is read. For normal equations and kernels of a few hundred rows.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace stepsim::library {

struct Cholesky {
  std::size_t size{};
  std::vector<double> lower; // [size * size], zeros above the diagonal are not kept up
};

// Takes [size * size] numbers. Empty if the matrix is not positive definite in floating point.
[[nodiscard]] std::optional<Cholesky> cholesky(std::vector<double> matrix, std::size_t size);

// x with A x = right.
[[nodiscard]] std::vector<double> solve(const Cholesky& factor, std::span<const double> right);

// The inverse of A, [size * size].
[[nodiscard]] std::vector<double> inverse(const Cholesky& factor);

} // namespace stepsim::library
