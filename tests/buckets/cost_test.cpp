#include "buckets/cost.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "base/random.hpp"
#include "buckets/plan_problems.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::buckets;
using stepsim::base::RandomStream;
using stepsim::testing::Tolerance;
using stepsim::testing::within;

namespace {

using Points = std::vector<std::pair<double, double>>;

Cost table_of(const Points& points) { return {.base = make_table_cost(points).first}; }

Tolerance near(double value) { return within(value, 1e-9); }

} // namespace

TEST_CASE("linear cost: a + b m, and no bytes cost nothing") {
  const Cost cost = testing::linear(1e-3, 2e-9);
  CHECK(cost.seconds(0, 0) == 0);
  CHECK(cost.seconds(1e6, 1) == near(1e-3 + 2e-9 * 1e6));
  CHECK(cost.seconds(1e6, 5) == cost.seconds(1e6, 1));
  CHECK(cost.is_linear());
}

TEST_CASE("linear cost: the closed forms of all-reduce in their two constants") {
  const double alpha = 1e-5;
  const double beta = 8e-10;
  const double gamma = 1e-10;
  const auto ring = [&](double ranks) {
    const double steps = ranks - 1;
    return testing::linear(2 * steps * alpha, steps / ranks * (2 * beta + gamma)).seconds(1e8, 1);
  };
  CHECK(ring(8) == within(0.14889, 1e-5));
  CHECK(ring(6) == within(0.141766667, 1e-8));
  CHECK(ring(64) == near(0.16860375));
  const double height = 3; // log2 8
  CHECK(testing::linear(2 * alpha * height, (2 * beta + gamma) * height).seconds(1e8, 1) ==
        near(0.51006));
  CHECK(testing::linear(alpha * height, (beta + gamma) * height).seconds(1e8, 1) == near(0.27003));
  CHECK(testing::linear(2 * alpha * height, 2 * beta - (2 * beta + gamma) / 8 + gamma)
            .seconds(1e8, 1) == near(0.14881));
}

TEST_CASE("table cost: flat up to the first point, linear between, least-squares slope beyond") {
  const auto [table, report] =
      make_table_cost(Points{{1e3, 1e-3}, {2e3, 1.5e-3}, {4e3, 1.3e-3}, {8e3, 3e-3}});
  const Cost cost{.base = table};
  CHECK(report.points_changed == 2); // 1.5 and 1.3 become their mean 1.4
  CHECK(report.largest_change == near((1.4 - 1.3) / 1.3));
  CHECK(cost.seconds(0, 0) == 0);
  CHECK(cost.seconds(1, 1) == near(1e-3));
  CHECK(cost.seconds(1500, 1) == near((1e-3 + 1.4e-3) / 2));
  CHECK(cost.seconds(3000, 1) == near(1.4e-3));
  CHECK(cost.seconds(6000, 1) == near((1.4e-3 + 3e-3) / 2));
  // beyond: points with at least 4,000 bytes, slope (3 - 1.4) / 4000 ms per byte
  CHECK(cost.seconds(16000, 1) == near(3e-3 + 1.6e-3 / 4000 * 8000));
  CHECK_FALSE(cost.is_linear());
}

TEST_CASE("table cost: the tail slope is that of the upper half, never negative") {
  // upper half: 50, 90, 100 bytes with 5, 9, 10 s on a line of slope 0.1; the rest is flat
  const Cost half = table_of({{10, 4}, {40, 4}, {50, 5}, {90, 9}, {100, 10}});
  CHECK(half.seconds(300, 1) == near(10 + 0.1 * 200));
  // one point only in the upper half: the last two give the slope
  const Cost two = table_of({{10, 1}, {100, 10}});
  CHECK(two.seconds(200, 1) == near(10 + 9.0 / 90 * 100));
  const Cost falling = table_of({{50, 5}, {100, 4}});
  CHECK(falling.seconds(1000, 1) == near(4.5));
}

TEST_CASE("curve cost: any function of bytes") {
  const Cost cost{.base = CurveCost{[](double bytes) { return std::sqrt(bytes); }}};
  CHECK(cost.seconds(16, 1) == 4);
  CHECK(cost.seconds(0, 0) == 0);
  CHECK_FALSE(cost.is_linear());
}

TEST_CASE("copies: 4 bytes moved per byte, for two or more items only") {
  Cost cost = testing::linear(1, 0.5);
  cost.copy_bandwidth_Bps = 100;
  CHECK(cost.seconds(50, 1) == near(1 + 0.5 * 50));
  CHECK(cost.seconds(50, 2) == near(1 + 0.5 * 50 + 4.0 * 50 / 100));
  CHECK(cost.seconds(50, 3) == cost.seconds(50, 2));
  CHECK_FALSE(cost.is_linear());
}

TEST_CASE("sub-additivity: known for lines, checked for tables, unknown for curves") {
  CHECK(known_subadditive(testing::linear(1, 1), 1e9));
  CHECK_FALSE(known_subadditive({.base = CurveCost{[](double) { return 1.0; }}}, 10));
  CHECK(known_subadditive(table_of({{10, 2}, {20, 3}, {30, 4}}), 1e6));
  // T(50) + T(50) = 2 < T(100) = 5, which matters only from 100 bytes on
  const Cost jump = table_of({{10, 1}, {50, 1}, {100, 5}});
  CHECK_FALSE(known_subadditive(jump, 100));
  CHECK(known_subadditive(jump, 50));
  CHECK(known_subadditive(jump, 62)); // 2 >= 1 + 4/50 x 12
  CHECK_FALSE(known_subadditive(jump, 63));
}

TEST_CASE("sub-additivity of random tables: the corners decide as a fine grid does") {
  const std::uint64_t seed = 5;
  CAPTURE(seed);
  int holding = 0;
  int failing = 0;
  for (std::uint64_t instance = 0; instance < 200; ++instance) {
    CAPTURE(instance);
    RandomStream random({.seed = seed, .point = instance});
    const Cost cost = testing::random_table(random, 60, 1);
    const double limit = 100;
    bool on_grid = true; // all knots are whole bytes, so are all corners
    for (double x = 1; x < limit; ++x) {
      for (double y = x; x + y <= limit; ++y) {
        const double merged = cost.seconds(x + y, 1);
        on_grid = on_grid && cost.seconds(x, 1) + cost.seconds(y, 1) >= merged * (1 - 1e-12);
      }
    }
    CHECK(known_subadditive(cost, limit) == on_grid);
    ++(on_grid ? holding : failing);
  }
  CHECK(holding > 20);
  CHECK(failing > 20);
}
