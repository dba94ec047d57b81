#pragma once
// Cholesky factor A = L L^T of a symmetric positive definite matrix, for normal equations and
// kernels of a few hundred rows. Matrices are stored by rows; only the lower triangle is read.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace stepsim::base {

struct Cholesky {
  std::size_t size{};
  std::vector<double> lower; // [size * size]; entries above the diagonal are undefined
};

// Returns the factor of a matrix of [size * size] numbers; empty if it is not positive definite in
// floating point.
[[nodiscard]] std::optional<Cholesky> cholesky(std::vector<double> matrix, std::size_t size);

// Returns x with A x = right.
[[nodiscard]] std::vector<double> solve(const Cholesky& factor, std::span<const double> right);

// Returns the inverse of A, [size * size].
[[nodiscard]] std::vector<double> inverse(const Cholesky& factor);

} // namespace stepsim::base
