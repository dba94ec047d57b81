// Cholesky factors against products written out.
#include <doctest/doctest.h>

#include <vector>

#include "base/cholesky.hpp"
#include "base/random.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::base;
using stepsim::testing::plus_minus;

TEST_CASE("cholesky: the factor of [[4, 2], [2, 10]] is [[2, 0], [1, 3]]") {
  const auto factor = cholesky({4, 2, 2, 10}, 2);
  REQUIRE(factor);
  CHECK(factor->lower[0] == 2);
  CHECK(factor->lower[2] == 1);
  CHECK(factor->lower[3] == 3);
  CHECK(solve(*factor, std::vector<double>{8, 22}) == std::vector<double>{1, 2});
}

TEST_CASE("cholesky: a matrix that is not positive definite has no factor") {
  CHECK_FALSE(cholesky({1, 2, 2, 1}, 2));
  CHECK_FALSE(cholesky({0}, 1));
  CHECK_FALSE(cholesky({-1}, 1));
}

TEST_CASE("cholesky: A times its inverse is the unit matrix") {
  constexpr std::size_t n = 24;
  stepsim::base::RandomStream random({.seed = 11});
  std::vector<double> root(n * n);
  for (double& value : root) {
    value = random.uniform(-1, 1);
  }
  std::vector<double> matrix(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) {
        matrix[i * n + j] += root[i * n + k] * root[j * n + k];
      }
      matrix[i * n + j] += i == j ? 0.1 : 0;
    }
  }
  const auto factor = cholesky(matrix, n);
  REQUIRE(factor);
  const std::vector<double> other = inverse(*factor);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) {
        sum += matrix[i * n + k] * other[k * n + j];
      }
      CHECK(sum == plus_minus(i == j ? 1 : 0, 1e-9));
    }
  }
}
