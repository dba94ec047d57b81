// The comparison that all tests use.
#include "testing/tolerance.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <optional>
#include <string>

using stepsim::testing::plus_minus;
using stepsim::testing::Tolerance;
using stepsim::testing::within;

namespace {

std::string text(const Tolerance& tolerance) { return toString(tolerance).c_str(); }

} // namespace

TEST_CASE("within: the tolerance is a part of the value, at every scale and sign") {
  for (const double scale : {1e-300, 1e-12, 1e-6, 1.0, 1e9, 1e300}) {
    for (const double value : {3 * scale, -3 * scale}) {
      CAPTURE(value);
      CHECK(value == within(value, 1e-15));
      CHECK(value * (1 + 0.9e-9) == within(value, 1e-9));
      CHECK(value * (1 - 0.9e-9) == within(value, 1e-9));
      CHECK(value * (1 + 1.1e-9) != within(value, 1e-9));
      CHECK(value * (1 - 1.1e-9) != within(value, 1e-9));
      CHECK(-value != within(value, 0.999));
      CHECK(0 != within(value, 0.999));
    }
  }
}

TEST_CASE("within: zero is within any part of zero, nothing else is") {
  CHECK(0.0 == within(0.0, 1e-12));
  CHECK(-0.0 == within(0, 1e-12));
  CHECK(std::numeric_limits<double>::denorm_min() != within(0.0, 0.5));
}

TEST_CASE("plus_minus: the tolerance is a difference") {
  CHECK(1e-12 == plus_minus(0, 1e-12));
  CHECK(1.1e-12 != plus_minus(0, 1e-12));
  CHECK(3.549 == plus_minus(3.5, 0.05));
  CHECK(3.451 == plus_minus(3.5, 0.05));
  CHECK(3.551 != plus_minus(3.5, 0.05));
}

TEST_CASE("tolerances: infinity equals itself, NaN nothing") {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Tolerance& tolerance : {within(1.0, 0.5), plus_minus(1.0, 1e300)}) {
    CHECK(nan != tolerance);
    CHECK(infinity != tolerance);
  }
  CHECK(infinity == within(infinity, 1e-9));
  CHECK(infinity == plus_minus(infinity, 1));
  CHECK(-infinity != within(infinity, 1e-9));
  CHECK(-infinity != plus_minus(infinity, 1));
  CHECK(nan != within(nan, 0.5));
  CHECK(1 != within(infinity, 0.5));
  CHECK(nan != plus_minus(nan, 1));
}

TEST_CASE("tolerances: integers compare, optionals too") {
  CHECK(1249U == within(1250, 0.001));
  CHECK(1251LL == within(1250U, 0.001));
  CHECK(1252 != within(1250, 0.001));
  CHECK(std::optional(2.0) == within(2, 1e-9));
  CHECK(std::optional<double>() != within(2, 1e-9));
}

TEST_CASE("tolerances: a failure tells how far off the value was") {
  const Tolerance relative = within(2e-6, 1e-9);
  CHECK_FALSE(2e-6 * (1 + 1e-7) == relative);
  CHECK(text(relative) == "2e-06 +- 1e-09 of it (found: +1e-07 of it)");
  const Tolerance absolute = plus_minus(3.5, 0.25);
  CHECK_FALSE(3 == absolute);
  CHECK(text(absolute) == "3.5 +- 0.25 (found: -0.5)");
}
