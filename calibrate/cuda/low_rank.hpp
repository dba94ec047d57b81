#pragma once
// Host reference of the kernels of low-rank compression (PowerSGD; SPA 8.3, 11). For a matrix M of
// rows x columns, all matrices stored row by row, the kernels must compute
//
//   left P = M Q,   P orthonormal by Gram-Schmidt,   right Q = M^T P,   update = P Q^T
//
// Kernels may add in any order. With u = 2^-24, a sum of n products then differs from the exact sum
// by at most gamma_n sum |a b|, gamma_n = n u / (1 - n u); sums of small integers are exact, and
// Sums::exact allows no difference. A `*_problem` function describes the first wrong element with
// index, got, expected and bound; "" if all are right.
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

// P Q^T. Each element is a chain of fused multiply-adds in the order of the columns of P, so that
// the kernel must give the same bits.
[[nodiscard]] std::vector<float> restored(const LowRankShape& shape, std::span<const float> left,
                                          std::span<const float> right);

// Checks that the columns `after` (rows x rank) are the columns `before` made orthonormal: before =
// after R, with R upper triangular and a positive diagonal. To first order, with gamma =
// gamma_rows, eta = 2 gamma + 2u and a_l column l of `before`, the product of column l of `after`
// and a column j < l differs from 0 by at most
//
//   w_jl = (eta |a_l| + sum over j < m < l of (|R_ml| w_jm + u |a_l|)) / R_ll + 4u
//
// and the square of a column differs from 1 by at most gamma + 4u. The part of a_l outside the span
// of the first l + 1 columns is at most ((4l + 4) u + D) |a_l|, with D the Frobenius norm of the
// deviations of these products and squares. The columns of `before` must be linearly independent: a
// column that depends on earlier columns has R_ll = 0 and no bound.
[[nodiscard]] std::string orthonormal_problem(std::int64_t rows, int rank,
                                              std::span<const float> before,
                                              std::span<const float> after);

// Columns (rows x rank) whose orthonormal form is exact in every order of summation: sums of small
// multiples of columns of a Hadamard matrix of 4^m rows, spread over the rows. Empty if there is no
// 4^m from rank to rows.
struct ExactColumns {
  std::vector<float> before, after;
};
[[nodiscard]] ExactColumns exact_columns(std::int64_t rows, int rank);

} // namespace stepsim::calibrate::gpu
