#include "base/statistics.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "testing/tolerance.hpp"

using namespace stepsim::base;
using stepsim::testing::within;

TEST_CASE("student_t: one and two degrees of freedom have closed forms") {
  // Of one degree tan(pi (p - 1/2)), of two degrees (2p - 1) sqrt(2 / (4p (1 - p))).
  for (const double p : {0.975, 0.9}) {
    CHECK(student_t(p, 1) == within(std::tan(std::acos(-1.0) * (p - 0.5)), 1e-14));
    CHECK(student_t(p, 2) == within((2 * p - 1) * std::sqrt(2 / (4 * p * (1 - p))), 1e-14));
  }
}

TEST_CASE("mean_interval: mean plus and minus t s / sqrt(n)") {
  // Two values a and b: s / sqrt(2) = |b - a| / 2, and t of one degree of freedom.
  const Interval two = mean_interval(std::vector<double>{1, 3}, 0.95);
  CHECK(two.low == within(2 - 12.7062047361747, 1e-12));
  CHECK(two.high == within(2 + 12.7062047361747, 1e-12));
  // n values -1, 1, -1, ..: s^2 = n / (n - 1), so half the width is t / sqrt(n - 1). Quantiles of
  // Student's t as tabulated.
  struct Row {
    std::size_t count;
    double level, t;
  };
  for (const auto& [count, level, t] :
       {Row{32, 0.95, 2.039513}, {1000, 0.95, 1.962341}, {20, 0.8, 1.327728}, {2, 0.8, 3.077684}}) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = i % 2 == 0 ? -1 : 1;
    }
    const double half = t / std::sqrt(static_cast<double>(count - 1));
    CHECK(mean_interval(values, level).high == within(half, 1e-6));
    CHECK(mean_interval(values, level).low == within(-half, 1e-6));
  }
}
