// Curves through measured points: straight from point to point, never falling, and lines beyond.
#include "links/profile/profile_curve.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "testing/tolerance.hpp"

using namespace stepsim::links;
using stepsim::testing::within;

TEST_CASE("curve_through: every point is hit, and between two of them the time is straight") {
  const std::vector<CurvePoint> points{{100, 3}, {200, 4}, {400, 4}, {800, 20}};
  const std::vector<CurveSegment> curve = curve_through(points);
  for (const CurvePoint& point : points) {
    CHECK(curve_seconds(curve, point.bytes) == within(point.seconds, 1e-12));
  }
  CHECK(curve_seconds(curve, 150) == within(3.5, 1e-12));
  CHECK(curve_seconds(curve, 300) == within(4, 1e-12));
  CHECK(curve_seconds(curve, 600) == within(12, 1e-12)); // (4 + 20) / 2
}

TEST_CASE("curve_through: below the first point the first line goes on, or the line through 0") {
  // The line through (100, 3) and (200, 4) starts at 2; the line through (100, 1) and (200, 4)
  // would start at -2.
  CHECK(curve_seconds(curve_through(std::vector<CurvePoint>{{100, 3}, {200, 4}}), 10) ==
        within(2.1, 1e-12));
  CHECK(curve_seconds(curve_through(std::vector<CurvePoint>{{100, 1}, {200, 4}}), 10) ==
        within(0.1, 1e-12));
}

TEST_CASE("curve_through: above the last point the time goes on rising") {
  // The last two times are equal, so that the line comes from (100, 3): 1 second per 300 bytes.
  const std::vector<CurveSegment> flat =
      curve_through(std::vector<CurvePoint>{{100, 3}, {200, 4}, {400, 4}});
  CHECK(curve_seconds(flat, 700) == within(5, 1e-12));
  const std::vector<CurveSegment> steep =
      curve_through(std::vector<CurvePoint>{{100, 3}, {200, 4}});
  CHECK(curve_seconds(steep, 400) == within(6, 1e-12));
  const std::vector<CurveSegment> constant =
      curve_through(std::vector<CurvePoint>{{100, 3}, {200, 3}});
  CHECK(curve_seconds(constant, 400) == 3);
}

TEST_CASE("curve_through: times never fall with size") {
  const std::vector<CurveSegment> curve =
      curve_through(std::vector<CurvePoint>{{3, 1}, {7, 1}, {11, 5}, {64, 5.5}, {100, 9}});
  double before = 0;
  for (double bytes = 0.5; bytes < 300; bytes += 0.25) {
    const double seconds = curve_seconds(curve, bytes);
    CHECK(seconds >= before * (1 - 1e-12));
    before = seconds;
  }
}
