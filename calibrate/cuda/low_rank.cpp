// Results on the device are compared with sums in double. The bounds are those of a sum in any
// order: gamma(n) = n u / (1 - n u) times the sum of magnitudes, u = 2^-24 (Higham, Accuracy and
// Stability of Numerical Algorithms, 3.1).
#include "calibrate/cuda/low_rank.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/number_text.hpp"

namespace stepsim::calibrate::gpu {

namespace {

constexpr double kUnit = 0x1p-24;

double gamma_of(std::int64_t terms) {
  const double nu = static_cast<double>(terms) * kUnit;
  return nu / (1 - nu);
}

std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

// NaN and infinities have no significant digits.
std::string shown(double value) {
  return std::isfinite(value) ? base::significant(value, 9) : std::to_string(value);
}

std::string problem(std::int64_t index, double got, double expected, double bound) {
  return "index " + std::to_string(index) + ": got " + shown(got) + ", expected " +
         shown(expected) + " within " + shown(bound);
}

// got[i][k] = sum over t of a(i, t) b[t][k].
template <class A>
std::string product_problem(std::int64_t count, std::int64_t terms, int rank, A a,
                            std::span<const float> b, std::span<const float> got, Sums sums) {
  for (std::int64_t i = 0; i < count; ++i) {
    for (int k = 0; k < rank; ++k) {
      double sum = 0;
      double magnitudes = 0;
      for (std::int64_t t = 0; t < terms; ++t) {
        const double product = static_cast<double>(a(i, t)) * b[size(t * rank + k)];
        sum += product;
        magnitudes += std::abs(product);
      }
      const double bound = sums == Sums::exact ? 0 : gamma_of(terms) * magnitudes;
      const double found = got[size(i * rank + k)];
      if (!(std::abs(found - sum) <= bound)) { // also NaN
        return problem(i * rank + k, found, sum, bound);
      }
    }
  }
  return "";
}

using Square = std::vector<std::vector<double>>; // [m][l]

Square square(int rank) { return Square(size(rank), std::vector<double>(size(rank))); }

// R of the QR decomposition by Gram-Schmidt, in double, of linearly independent columns. It is the
// scale by which errors of one column reach the later ones.
Square triangle_of(std::int64_t rows, int rank, std::span<const float> columns) {
  std::vector<double> a(columns.begin(), columns.end());
  Square r = square(rank);
  const auto at = [&](std::int64_t i, int k) -> double& { return a[size(i * rank + k)]; };
  for (int j = 0; j < rank; ++j) {
    for (int l = j; l < rank; ++l) {
      double sum = 0; // of column j, orthonormal below from here on
      for (std::int64_t i = 0; i < rows; ++i) {
        sum += at(i, j) * at(i, l);
      }
      r[size(j)][size(l)] = l == j ? std::sqrt(sum) : sum;
      for (std::int64_t i = 0; i < rows; ++i) {
        if (l == j) {
          at(i, j) /= r[size(j)][size(j)];
        } else {
          at(i, l) -= sum * at(i, j);
        }
      }
    }
  }
  return r;
}

// [m][l] = x_m . y_l
Square products_of(std::int64_t rows, int rank, std::span<const float> x,
                   std::span<const float> y) {
  Square out = square(rank);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (int m = 0; m < rank; ++m) {
      for (int l = 0; l < rank; ++l) {
        out[size(m)][size(l)] += static_cast<double>(x[size(i * rank + m)]) * y[size(i * rank + l)];
      }
    }
  }
  return out;
}

// Bounds of the deviations of after^T after from 1, to first order (low_rank.hpp). A column that is
// nearly in the span of the earlier ones has a small R_ll, and its bound grows accordingly.
Square deviations(double gamma, const Square& r, const std::vector<double>& norms) {
  const std::size_t rank = norms.size();
  Square off = square(static_cast<int>(rank));
  const double eta = 2 * gamma + 2 * kUnit;
  for (std::size_t j = 0; j < rank; ++j) {
    off[j][j] = gamma + 4 * kUnit;
    for (std::size_t l = j + 1; l < rank; ++l) {
      double sum = eta * norms[l];
      for (std::size_t m = j + 1; m < l; ++m) {
        sum += std::abs(r[m][l]) * off[j][m] + kUnit * norms[l];
      }
      off[j][l] = sum / r[l][l] + 4 * kUnit;
    }
  }
  return off;
}

} // namespace

std::string left_problem(const LowRankShape& shape, std::span<const float> matrix,
                         std::span<const float> right, std::span<const float> got, Sums sums) {
  const auto a = [&](std::int64_t i, std::int64_t t) {
    return matrix[size(i * shape.columns + t)];
  };
  return product_problem(shape.rows, shape.columns, shape.rank, a, right, got, sums);
}

std::string right_problem(const LowRankShape& shape, std::span<const float> matrix,
                          std::span<const float> left, std::span<const float> got, Sums sums) {
  const auto a = [&](std::int64_t i, std::int64_t t) {
    return matrix[size(t * shape.columns + i)];
  };
  return product_problem(shape.columns, shape.rows, shape.rank, a, left, got, sums);
}

std::vector<float> restored(const LowRankShape& shape, std::span<const float> left,
                            std::span<const float> right) {
  std::vector<float> update;
  update.reserve(size(shape.rows * shape.columns));
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    for (std::int64_t j = 0; j < shape.columns; ++j) {
      float value = 0;
      for (int k = 0; k < shape.rank; ++k) {
        value = std::fma(left[size(i * shape.rank + k)], right[size(j * shape.rank + k)], value);
      }
      update.push_back(value);
    }
  }
  return update;
}

std::string orthonormal_problem(std::int64_t rows, int rank, std::span<const float> before,
                                std::span<const float> after) {
  const Square r = triangle_of(rows, rank, before);
  std::vector<double> norms(size(rank));
  for (std::size_t l = 0; l < norms.size(); ++l) {
    for (std::size_t m = 0; m <= l; ++m) {
      norms[l] = std::hypot(norms[l], r[m][l]);
    }
  }
  const Square bounds = deviations(gamma_of(rows), r, norms);
  const Square own = products_of(rows, rank, after, after);
  const Square with_before = products_of(rows, rank, after, before);
  double all = 0; // squares of the deviations of the first columns
  for (std::size_t l = 0; l < norms.size(); ++l) {
    for (std::size_t j = 0; j <= l; ++j) {
      const double expected = j == l ? 1 : 0;
      if (!(std::abs(own[j][l] - expected) <= bounds[j][l])) {
        return "columns " + std::to_string(j) + " and " + std::to_string(l) + ", product, " +
               problem(0, own[j][l], expected, bounds[j][l]);
      }
      all += (j == l ? 1 : 2) * bounds[j][l] * bounds[j][l];
    }
    double missing = 0; // squares of what the first columns do not give of column l
    for (std::int64_t i = 0; i < rows; ++i) {
      double left = before[size(i * rank) + l];
      for (std::size_t m = 0; m <= l; ++m) {
        left -= with_before[m][l] * after[size(i * rank) + m];
      }
      missing += left * left;
    }
    const double bound = (4 * static_cast<double>(l + 1) * kUnit + std::sqrt(all)) * norms[l];
    if (!(std::sqrt(missing) <= bound) || !(with_before[l][l] > 0)) {
      return "column " + std::to_string(l) + ", outside the span, " +
             problem(0, std::sqrt(missing), 0, bound);
    }
  }
  return "";
}

// Columns of a Hadamard matrix are orthogonal with entries 1 and -1; with 4^m rows their length is
// 2^m. All sums of their small combinations are integers below 2^24 and all quotients are exact in
// fp32, so that Gram-Schmidt gives one result in every order of additions.
ExactColumns exact_columns(std::int64_t rows, int rank) {
  constexpr std::int64_t kMostSupport = std::int64_t{1} << 18; // sums stay below 2^24
  std::int64_t support = 1;
  while (4 * support <= std::min(rows, kMostSupport)) {
    support *= 4;
  }
  if (support < rank) {
    return {};
  }
  const std::int64_t stride = rows / support;
  const auto length = static_cast<float>(std::int64_t{1} << (std::bit_width(size(support)) / 2));
  const auto hadamard = [](std::int64_t i, int k) {
    return std::popcount(size(i) & size(k)) % 2 == 0 ? 1.0F : -1.0F;
  };
  ExactColumns columns;
  columns.before.resize(size(rows * rank), 0.0F);
  columns.after = columns.before;
  for (std::int64_t i = 0; i < support; ++i) {
    for (int k = 0; k < rank; ++k) {
      const std::size_t at = size(i * stride * rank + k);
      columns.before[at] = static_cast<float>(1 + k % 2) * hadamard(i, k) +
                           (k > 0 ? hadamard(i, k - 1) : 0.0F) -
                           (k > 1 ? hadamard(i, k - 2) : 0.0F);
      columns.after[at] = hadamard(i, k) / length;
    }
  }
  return columns;
}

} // namespace stepsim::calibrate::gpu
