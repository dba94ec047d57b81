#include "base/quantity.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/random.hpp"

using namespace stepsim::base;

TEST_CASE("the shortest text of a number is what people write") {
  CHECK(shortest(0.1) == "0.1");
  CHECK(shortest(3.0) == "3");
  CHECK(shortest(1e-5) == "1e-05");
  CHECK(shortest(1.0 / 3.0) == "0.3333333333333333");
}

TEST_CASE("the shortest text reads back to the same bits") {
  RandomStream random({.seed = 11});
  for (int i = 0; i < 20000; ++i) {
    const auto value = std::bit_cast<double>(random.bits());
    if (!std::isfinite(value)) {
      continue;
    }
    CAPTURE(value);
    CHECK(std::bit_cast<std::uint64_t>(std::strtod(shortest(value).c_str(), nullptr)) ==
          std::bit_cast<std::uint64_t>(value));
  }
}

TEST_CASE("integers are appended with their sign") {
  std::string text = "x";
  append_integer(text, std::numeric_limits<std::int64_t>::min());
  append_integer(text, 7);
  CHECK(text == "x-92233720368547758087");
}

TEST_CASE("significant digits: plain between 1e-4 and 1e9, whole numbers in full") {
  CHECK(significant(18.0444) == "18.04");
  CHECK(significant(0.0023451) == "0.002345");
  CHECK(significant(1234.4) == "1234");
  CHECK(significant(123456.7) == "123457");
  CHECK(significant(9.99996) == "10.00");
  CHECK(significant(0.0) == "0");
  CHECK(significant(-2.5, 2) == "-2.5");
  CHECK(significant(1e-4) == "0.0001000");
  CHECK(significant(1.5e-7, 2) == "1.5e-07");
  CHECK(significant(1e9) == "1.000e+09");
  CHECK(significant(999999999.0) == "1.000e+09"); // rounds to 1.000e9
  CHECK(significant(HUGE_VAL) == "inf");
  CHECK(significant(-HUGE_VAL) == "-inf");
  CHECK(significant(std::nan("")) == "nan");
}

TEST_CASE("counted: one thing has no plural") {
  CHECK(counted(1, "flow") == "1 flow");
  CHECK(counted(0, "flow") == "0 flows");
  CHECK(counted(2, "switch", "es") == "2 switches");
}

TEST_CASE("percent: what only rounding leaves of zero is zero") {
  CHECK(percent(1.22e-16) == "0 %");
  CHECK(percent(-1.22e-16) == "0 %");
  CHECK(percent(1.5e-12) == "1.50e-10 %");
  CHECK(percent(0.00179) == "0.179 %");
  CHECK(percent(-0.12345, 2) == "-12 %");
  CHECK(percent_number(0.5) == "50.0");
}
