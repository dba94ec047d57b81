#include "base/nelder_mead.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "testing/tolerance.hpp"

using stepsim::base::Minimum;
using stepsim::base::nelder_mead;
using stepsim::testing::plus_minus;

TEST_CASE("nelder_mead: the valley of Rosenbrock ends at (1, 1)") {
  const Minimum found = nelder_mead(
      [](const std::vector<double>& x) {
        return std::pow(1 - x[0], 2) + 100 * std::pow(x[1] - x[0] * x[0], 2);
      },
      {-1.2, 1}, 1.1, 400);
  CHECK(found.at[0] == plus_minus(1, 1e-6));
  CHECK(found.at[1] == plus_minus(1, 1e-6));
  CHECK(found.value == plus_minus(0, 1e-9));
}

TEST_CASE("nelder_mead: functions with kinks, and numbers that start at 0") {
  const Minimum found = nelder_mead(
      [](const std::vector<double>& x) {
        return std::abs(x[0] - 3) + 2 * std::abs(x[1] + 4) + std::abs(x[2]);
      },
      {1, 0, 5}, 1.5, 400);
  CHECK(found.at[0] == plus_minus(3, 1e-3));
  CHECK(found.at[1] == plus_minus(-4, 1e-3));
}

TEST_CASE("nelder_mead: one number, and no iterations") {
  const auto square = [](const std::vector<double>& x) { return x[0] * x[0]; };
  CHECK(nelder_mead(square, {4}, 1.1, 100).at[0] == plus_minus(0, 1e-6));
  const Minimum start = nelder_mead(square, {4}, 0.5, 0);
  CHECK(start.at[0] == 2);
  CHECK(start.value == 4);
}
