#include "plot/figure.hpp"

#include <doctest/doctest.h>

namespace stepsim::plot {

TEST_CASE("knee: the last N up to which every doubling gains at least 1.6") {
  // 1 -> 2: 1.9, 2 -> 4: 1.6, 4 -> 8: 1.59
  const std::vector<Point> points{
      {1, 100}, {2, 190}, {3, 250}, {4, 1.6 * 190}, {8, 1.59 * 1.6 * 190}, {16, 1e9}};
  const auto found = knee(points);
  REQUIRE(found);
  CHECK(found->x == 4);
  CHECK(found->y == 1.6 * 190);
}

TEST_CASE("knee: the first N where no doubling pays, the last where all do") {
  CHECK(knee(std::vector<Point>{{4, 10}, {8, 15.9}, {16, 100}})->x == 4);
  CHECK(knee(std::vector<Point>{{4, 10}, {8, 16}, {16, 25.6}})->x == 16);
}

TEST_CASE("knee: none without a doubling of the first N") {
  CHECK_FALSE(knee({}));
  CHECK_FALSE(knee(std::vector<Point>{{4, 10}}));
  CHECK_FALSE(knee(std::vector<Point>{{4, 10}, {6, 16}}));
}

} // namespace stepsim::plot
