#pragma once
// Low-rank compression (PowerSGD; SPA 8.3, 11) on the host: what its kernels must give for a matrix
// M of rows x columns, all matrices row by row:
//
//   left P = M Q,   P orthonormal by Gram-Schmidt,   right Q = M^T P,   update = P Q^T
//
// Kernels add in an order of their own. Whatever the order, with u = 2^-24 a sum of n products is
// off by at most gamma_n sum |a b|, gamma_n = n u / (1 - n u); of small integers it is exact.
// `*_problem` gives what is wrong first, with index, got, expected and bound; "" = all is right.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stepsim::calibrate::gpu {

inline constexpr int kMostRank = 32;

struct LowRankShape { // rank <= rows, columns, kMostRank
  std::int64_t rows{};
  std::int64_t columns{};
  int rank{};
};

enum class Sums { rounded, exact };

[[nodiscard]] std::string left_problem(const LowRankShape& shape, std::span<const float> matrix,
                                       std::span<const float> right, std::span<const float> got,
                                       Sums sums);
[[nodiscard]] std::string right_problem(const LowRankShape& shape, std::span<const float> matrix,
                                        std::span<const float> left, std::span<const float> got,
                                        Sums sums);

// P Q^T, every product added in one rounding, in the order of the rank: the same to the bit.
[[nodiscard]] std::vector<float> restored(const LowRankShape& shape, std::span<const float> left,
                                          std::span<const float> right);

// Columns `after` (rows x rank) are those of `before`, orthonormal: before = after R with R upper
// triangular and its diagonal positive. To first order, with gamma = gamma_rows, eta = 2 gamma + 2u
// and a_l column l of `before`, the product of columns j < l of `after` is off 0 by at most
//
//   w_jl = (eta |a_l| + sum over j < m < l of (|R_ml| w_jm + u |a_l|)) / R_ll + 4u
//
// and their squares are off 1 by at most gamma + 4u. The part of a_l outside the span of the first
// l + 1 columns is at most ((4l + 4) u + the Frobenius norm of those deviations) |a_l|. The columns
// of `before` must be linearly independent: a column that depends on earlier ones has no bound
// here, since R_ll is then 0.
[[nodiscard]] std::string orthonormal_problem(std::int64_t rows, int rank,
                                              std::span<const float> before,
                                              std::span<const float> after);

// Columns whose orthonormal form is exact in every order of summation, rows x rank: sums of small
// multiples of columns of a Hadamard matrix of 4^m rows, spread over the rows. Empty where no 4^m
// is in [rank, rows].
struct ExactColumns {
  std::vector<float> before, after;
};
[[nodiscard]] ExactColumns exact_columns(std::int64_t rows, int rank);

} // namespace stepsim::calibrate::gpu
