// What a calibration keeps of measured times, and how it is judged: sizes are left out one at a
// time.
#include "calibrate/core/group_fit.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "calibrate/curves.hpp"
#include "links/profile/profile_curve.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::calibrate;
using stepsim::testing::within;

TEST_CASE("curve choice: times on a line are that line, and no size that is left out is missed") {
  const Group group = group_of(powers(10, 20, 1, 5e-6, 1e-9));
  const CurveChoice choice = choose_curve(group, Robust::none);
  CHECK(choice.points.empty());
  REQUIRE(choice.curve.size() == 1);
  REQUIRE(choice.left_out);
  CHECK(choice.left_out->most < 1e-9);
  CHECK_FALSE(choice.left_out_s.front()); // the ends would test extrapolation
  CHECK_FALSE(choice.left_out_s.back());
  REQUIRE(choice.left_out_s[3]);
  CHECK(*choice.left_out_s[3] == within(5e-6 + 1e-9 * 8192, 1e-9));
}

TEST_CASE("curve choice: where lines miss a size by 10 % the points are kept, and each is hit") {
  // Six regimes of one size each: no three lines follow them.
  const std::vector<Datum> data{{1, 1}, {2, 2}, {4, 2.1}, {8, 8}, {16, 8.5}, {32, 40}, {64, 41}};
  const CurveChoice choice = choose_curve(group_of(data), Robust::none);
  REQUIRE(choice.points.size() == data.size());
  for (const Datum& datum : data) {
    CHECK(links::curve_seconds(choice.curve, datum.bytes) == within(datum.seconds, 1e-12));
  }
  // Without 8 bytes the line from (4, 2.1) to (16, 8.5) gives it 2.1 + 6.4 * 4 / 12.
  REQUIRE(choice.left_out_s[3]);
  CHECK(*choice.left_out_s[3] == within(2.1 + 6.4 * 4 / 12, 1e-12));
  REQUIRE(choice.left_out);
  CHECK(choice.left_out->most > 0.25);
  CHECK(fit_group(group_of(data), {}).grade == Grade::fail); // though each point is hit
}

TEST_CASE("curve choice: a time that falls with size is pooled with the time before it") {
  const std::vector<Datum> data{{1, 1}, {2, 4}, {4, 1}, {8, 8}, {16, 8.1}, {32, 40}, {64, 100}};
  const CurveChoice choice = choose_curve(group_of(data), Robust::none);
  REQUIRE(choice.points.size() == data.size());
  CHECK(choice.points[1].seconds == within(2, 1e-12)); // the geometric mean of 4 and 1
  CHECK(choice.points[2].seconds == choice.points[1].seconds);
  CHECK(choice.points[3].seconds == 8); // not pooled: to the last digit
}

TEST_CASE("curve choice: the grade is the 90th percentile of the errors on sizes left out") {
  // On a line, but for one size of 19 that is 30 % too slow: 16 of 17 errors are small.
  std::vector<Datum> data = powers(6, 24, 1, 1e-3, 1e-9);
  data[9].seconds *= 1.3;
  const GroupFit fit = fit_group(group_of(data), {});
  REQUIRE(fit.left_out);
  CHECK(fit.left_out->most > 0.2);
  CHECK(fit.grade == grade_of(fit.left_out->p90));
  CHECK(fit.left_out->p90 < fit.left_out->most);
}

TEST_CASE("curve choice: two sizes leave nothing to test, which is a warning") {
  const GroupFit fit = fit_group(group_of({{1000, 1e-5}, {2000, 2e-5}}), {});
  CHECK_FALSE(fit.left_out);
  CHECK(fit.grade == Grade::warn);
  REQUIRE(!fit.warnings.empty());
  CHECK(fit.warnings.front() == "allreduce P=8: two sizes fit any line: measure more to test it");
}
