#include "base/mean_interval.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "testing/tolerance.hpp"

using namespace stepsim::base;
using stepsim::testing::within;

TEST_CASE("student_t_975: one and two degrees of freedom have closed forms") {
  // Of one degree tan(pi (p - 1/2)), of two degrees (2p - 1) sqrt(2 / (4p (1 - p))).
  constexpr double p = 0.975;
  CHECK(student_t_975(1) == within(std::tan(std::acos(-1.0) * (p - 0.5)), 1e-14));
  CHECK(student_t_975(2) == within((2 * p - 1) * std::sqrt(2 / (4 * p * (1 - p))), 1e-14));
}

TEST_CASE("mean_interval_95: mean plus and minus t s / sqrt(n)") {
  // Two values a and b: s / sqrt(2) = |b - a| / 2, and t of one degree of freedom.
  const Interval two = mean_interval_95(std::vector<double>{1, 3});
  CHECK(two.low == within(2 - 12.7062047361747, 1e-12));
  CHECK(two.high == within(2 + 12.7062047361747, 1e-12));
  // n values -1, 1, -1, ..: s^2 = n / (n - 1), so half the width is t / sqrt(n - 1). Quantiles of
  // Student's t as tabulated: 31 degrees 2.039513, 999 degrees 1.962341.
  for (const auto& [count, t] : {std::pair<std::size_t, double>{32, 2.039513}, {1000, 1.962341}}) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = i % 2 == 0 ? -1 : 1;
    }
    const double half = t / std::sqrt(static_cast<double>(count - 1));
    CHECK(mean_interval_95(values).high == within(half, 1e-6));
    CHECK(mean_interval_95(values).low == within(-half, 1e-6));
  }
}
