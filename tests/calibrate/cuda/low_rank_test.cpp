// What kernels of low-rank compression are held against: right answers in any order of summation
// pass, wrong ones do not.
#include "calibrate/cuda/low_rank.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.hpp"

using namespace stepsim;
using namespace stepsim::calibrate::gpu;

namespace {

using Values = std::vector<float>;

template <class Draw> Values drawn(std::int64_t n, std::uint64_t seed, Draw draw) {
  base::RandomStream random({.seed = seed});
  Values values(static_cast<std::size_t>(n));
  std::ranges::generate(values, [&] { return static_cast<float>(draw(random)); });
  return values;
}

Values some_values(std::int64_t n, std::uint64_t seed) {
  return drawn(n, seed, [](base::RandomStream& random) { return random.uniform(-1, 1); });
}

Values some_integers(std::int64_t n, std::uint64_t seed) {
  return drawn(n, seed, [](base::RandomStream& random) { return random.integer(-6, 6); });
}

// 0 .. n-1 in some order.
std::vector<std::size_t> some_order(std::size_t n, std::uint64_t seed) {
  base::RandomStream random({.seed = seed});
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i) {
    std::swap(order[i - 1],
              order[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i) - 1))]);
  }
  return order;
}

// out[i][k] = sum of a[i][t] b[t][k] in floats and in some order.
Values product(const Values& a, const Values& b, std::int64_t rows, int rank, std::uint64_t seed) {
  const std::size_t width = static_cast<std::size_t>(rank);
  const std::size_t terms = b.size() / width;
  Values out(static_cast<std::size_t>(rows) * width, 0.0F);
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
    for (const std::size_t t : some_order(terms, seed + i)) {
      for (std::size_t k = 0; k < width; ++k) {
        out[i * width + k] += a[i * terms + t] * b[t * width + k];
      }
    }
  }
  return out;
}

Values transposed(const Values& matrix, std::int64_t rows, std::int64_t columns) {
  Values out;
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      out.push_back(matrix[static_cast<std::size_t>(i * columns + j)]);
    }
  }
  return out;
}

// Gram-Schmidt in floats, every column taken out of all later ones.
Values orthonormal(Values columns, std::int64_t rows, int rank) {
  const auto at = [&](std::int64_t i, int k) -> float& {
    return columns[static_cast<std::size_t>(i * rank + k)];
  };
  const auto dot = [&](int j, int l) {
    float sum = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      sum += at(i, j) * at(i, l);
    }
    return sum;
  };
  for (int j = 0; j < rank; ++j) {
    const float square = dot(j, j);
    for (int l = j + 1; l < rank; ++l) {
      const float share = dot(j, l) / square;
      for (std::int64_t i = 0; i < rows; ++i) {
        at(i, l) -= share * at(i, j);
      }
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      at(i, j) /= std::sqrt(square);
    }
  }
  return columns;
}

} // namespace

TEST_CASE("low rank: sums in any order are within the bound, a term left out is not") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const LowRankShape shape{37, 211, 3};
    const Values matrix = some_values(shape.rows * shape.columns, seed);
    const Values right = some_values(shape.columns * shape.rank, seed + 10);
    const Values left = some_values(shape.rows * shape.rank, seed + 20);
    Values got = product(matrix, right, shape.rows, shape.rank, seed);
    CHECK(left_problem(shape, matrix, right, got, Sums::rounded) == "");
    got[17] -= matrix[5 * 211 + 200] * right[200 * 3 + 2]; // 17 = row 5, column 2
    CHECK(left_problem(shape, matrix, right, got, Sums::rounded).starts_with("index 17: got "));
    got = product(transposed(matrix, shape.rows, shape.columns), left, shape.columns, shape.rank,
                  seed);
    CHECK(right_problem(shape, matrix, left, got, Sums::rounded) == "");
    got[632] = std::nanf("");
    CHECK(right_problem(shape, matrix, left, got, Sums::rounded).starts_with("index 632: got nan"));
  }
}

TEST_CASE("low rank: sums of small integers are exact") {
  const LowRankShape shape{9, 1000, 4};
  const Values matrix = some_integers(shape.rows * shape.columns, 1);
  const Values right = some_integers(shape.columns * shape.rank, 2);
  Values got = product(matrix, right, shape.rows, shape.rank, 3);
  CHECK(left_problem(shape, matrix, right, got, Sums::exact) == "");
  got[35] = std::nextafter(got[35], 1e9F);
  CHECK(left_problem(shape, matrix, right, got, Sums::exact).starts_with("index 35: got "));
  CHECK(left_problem(shape, matrix, right, got, Sums::rounded) == "");
}

TEST_CASE("low rank: the update is the product of the factors") {
  const LowRankShape shape{3, 2, 2};
  const Values left{1, 2, 3, 4, 5, 6};
  const Values right{10, 1, 100, 2};
  CHECK(restored(shape, left, right) == Values{12, 104, 34, 308, 56, 512});
}

TEST_CASE("low rank: orthonormal columns pass, others do not") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const int rank : {1, 2, 5, 32}) {
      for (const std::int64_t rows : {32, 33, 1000}) {
        CAPTURE(seed);
        CAPTURE(rank);
        CAPTURE(rows);
        const Values before = some_values(rows * rank, seed);
        const Values after = orthonormal(before, rows, rank);
        CHECK(orthonormal_problem(rows, rank, before, after) == "");
      }
    }
  }
}

TEST_CASE("low rank: what Gram-Schmidt can do wrong is found") {
  const std::int64_t rows = 500;
  const int rank = 4;
  const Values before = some_values(rows * rank, 1);
  const Values right = orthonormal(before, rows, rank);
  const auto problem = [&](const Values& after) {
    return orthonormal_problem(rows, rank, before, after);
  };
  REQUIRE(problem(right) == "");

  Values long_column = right;
  for (std::size_t i = 2; i < long_column.size(); i += 4) {
    long_column[i] *= 1.001F;
  }
  CHECK(problem(long_column).starts_with("columns 2 and 2, product, "));

  Values leaning = right; // column 3 has some of column 0
  for (std::size_t i = 0; i < leaning.size(); i += 4) {
    leaning[i + 3] += 1e-3F * leaning[i];
  }
  CHECK(problem(leaning).starts_with("columns 0 and 3, product, "));

  Values exchanged = right; // orthonormal, but column 1 is not in the span of the first two
  for (std::size_t i = 0; i < exchanged.size(); i += 4) {
    std::swap(exchanged[i + 1], exchanged[i + 2]);
  }
  CHECK(problem(exchanged).starts_with("column 1, outside the span, "));

  Values turned = right;
  for (std::size_t i = 1; i < turned.size(); i += 4) {
    turned[i] = -turned[i];
  }
  CHECK(problem(turned).starts_with("column 1, "));

  Values other = orthonormal(some_values(rows * rank, 2), rows, rank);
  CHECK(problem(other).starts_with("column 0, outside the span, "));
}

TEST_CASE("low rank: exact columns are exact in any order of rows") {
  for (const int rank : {1, 2, 3, 16, 32}) {
    for (const std::int64_t rows : {1, 4, 5, 63, 64, 100, 4097}) {
      CAPTURE(rank);
      CAPTURE(rows);
      const ExactColumns columns = exact_columns(rows, rank);
      std::int64_t support = 1; // power of 4
      while (4 * support <= rows) {
        support *= 4;
      }
      REQUIRE(columns.before.empty() == (support < rank));
      if (columns.before.empty()) {
        continue;
      }
      CHECK(orthonormal(columns.before, rows, rank) == columns.after);
      CHECK(orthonormal_problem(rows, rank, columns.before, columns.after) == "");
      // Rows in another order.
      const std::vector<std::size_t> order = some_order(static_cast<std::size_t>(rows), 7);
      const auto width = static_cast<std::size_t>(rank);
      Values before, after;
      for (const std::size_t row : order) {
        for (std::size_t k = 0; k < width; ++k) {
          before.push_back(columns.before[row * width + k]);
          after.push_back(columns.after[row * width + k]);
        }
      }
      CHECK(orthonormal(before, rows, rank) == after);
    }
  }
}
