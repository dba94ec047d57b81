#include "plot/ticks.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

namespace stepsim::plot {
namespace {

using Values = std::vector<double>;

std::vector<double> ticks_between(Scale scale, double least, double greatest, double most) {
  const Axis axis{.scale = scale};
  return axis_ticks(axis, axis_range(axis, least, greatest, true), most);
}

} // namespace

TEST_CASE("ticks: linear ones are 1, 2 or 5 times a power of ten apart and begin at 0") {
  CHECK(ticks_between(Scale::linear, 3, 97, 6) == Values{0, 20, 40, 60, 80, 100});
  CHECK(ticks_between(Scale::linear, 0, 0.31, 6) == Values{0, 0.1, 0.2, 0.3, 0.4});
  CHECK(ticks_between(Scale::linear, 95, 99, 6) == Values{95, 96, 97, 98, 99});
}

TEST_CASE("ticks: those of log10 are 1, 2, 5 times powers of ten, or the powers alone") {
  CHECK(ticks_between(Scale::log10, 3, 90, 8) == Values{2, 5, 10, 20, 50, 100});
  CHECK(ticks_between(Scale::log10, 1e-3, 1e3, 8) == Values{1e-3, 1e-2, 0.1, 1, 10, 100, 1e3});
}

TEST_CASE("ticks: those of log2 are powers of two, and their range ends at powers") {
  CHECK(ticks_between(Scale::log2, 3, 60, 10) == Values{2, 4, 8, 16, 32, 64});
  CHECK(ticks_between(Scale::log2, 1, 1024, 6) == Values{1, 4, 16, 64, 256, 1024});
}

TEST_CASE("ticks: given ones are drawn, and the axis reaches them and the data") {
  const Axis axis{.ticks = {4, 8, 16}};
  const AxisRange range = axis_range(axis, 2, 20, true);
  CHECK(range.low == 0); // 2 is near 0 on an axis to 20
  CHECK(range.high == 20);
  CHECK(axis_ticks(axis, range, 2) == Values{4, 8, 16});
}

TEST_CASE("ticks: an axis that does not begin at 0 is broken") {
  CHECK(axis_range({}, 50, 99, true).broken());
  CHECK_FALSE(axis_range({}, 10, 99, true).broken());
  CHECK_FALSE(axis_range({.low = 0.0}, 50, 99, true).broken());
  CHECK_FALSE(axis_range({.scale = Scale::log10}, 50, 99, true).broken());
}

TEST_CASE("ticks: every range holds its data, at least two ticks, and shares from 0 to 1") {
  std::mt19937_64 random(20261122);
  std::uniform_real_distribution<double> exponent(-12, 12);
  for (int i = 0; i < 20'000; ++i) {
    const auto scale = static_cast<Scale>(i % 3);
    double a = std::pow(10, exponent(random));
    double b = i % 5 == 0 ? a : a * (1 + std::pow(10, exponent(random)));
    if (scale == Scale::linear && i % 2 == 0) {
      std::swap(a, b);
      a = -a;
    }
    const Axis axis{.scale = scale};
    const AxisRange range = axis_range(axis, a, b, i % 7 != 0);
    CAPTURE(a);
    CAPTURE(b);
    CAPTURE(static_cast<int>(scale));
    REQUIRE(range.share(a) >= -1e-9);
    REQUIRE(range.share(b) <= 1 + 1e-9);
    const std::vector<double> ticks = axis_ticks(axis, range, 6);
    REQUIRE(ticks.size() <= 40);
    REQUIRE((ticks.size() >= 2 || i % 7 == 0));
    for (const double tick : ticks) {
      REQUIRE(range.share(tick) >= -1e-9);
      REQUIRE(range.share(tick) <= 1 + 1e-9);
    }
  }
}

TEST_CASE("ticks: texts have commas, units of bytes, or letters for millions") {
  CHECK(tick_text({}, 9000, 9000) == "9000");
  CHECK(tick_text({}, 20'000, 50'000) == "20,000");
  CHECK(tick_text({}, 200'000, 500'000) == "200,000");
  CHECK(tick_text({}, -20'000, 0) == "-20,000");
  CHECK(tick_text({}, 0.05, 0.2) == "0.05");
  CHECK(tick_text({}, 2e6, 2e6) == "2M");
  CHECK(tick_text({}, 5e5, 2e6) == "500k");
  CHECK(tick_text({.unit = "bytes"}, 4096, 0) == "4 KiB");
  CHECK(tick_text({.unit = "bytes"}, 1 << 20, 0) == "1 MiB");
  CHECK(tick_text({.unit = "bytes"}, 512, 0) == "512 B");
  CHECK(tick_text({.unit = "bytes"}, 25e6, 0) == "25 MB");
}

} // namespace stepsim::plot
