#include "study/crossings.hpp"
#include "testing/tolerance.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <random>

using namespace stepsim::study;
using stepsim::testing::within;

namespace {

struct Found {
  std::vector<Crossing> crossings;
  int evaluations = 0; // besides the scan
};

template <class Function>
Found search_with(const CrossingSearch& search, std::int64_t points, const Function& function) {
  std::vector<Sample> scan;
  for (const double at : scan_values(search, points)) {
    scan.push_back({at, function(at)});
  }
  Found found;
  found.crossings = find_crossings(search, scan, [&](double at) {
    ++found.evaluations;
    return std::optional<double>(function(at));
  });
  return found;
}

} // namespace

TEST_CASE("crossings: scanned values are even on a logarithmic scale, with both ends") {
  const auto values = scan_values({.low = 1e8, .high = 1e10}, 5);
  CHECK(values == std::vector<double>{1e8, 3.16228e8, 1e9, 3.16228e9, 1e10});
  CHECK(scan_values({.low = 0, .high = 1}, 5) == std::vector<double>{0, 0.25, 0.5, 0.75, 1});
}

TEST_CASE("crossings: integers are scanned one by one, or without repetition") {
  CHECK(scan_values({.low = 3, .high = 7, .integers = true}, {}) ==
        std::vector<double>{3, 4, 5, 6, 7});
  CHECK(scan_values({.low = 1, .high = 1024, .integers = true}, {}).size() == 1024);
  CHECK(scan_values({.low = 1, .high = 1025, .integers = true}, {}).size() <= 129);
  CHECK(scan_values({.low = 1, .high = 1024, .integers = true}, 5) ==
        std::vector<double>{1, 6, 32, 181, 1024});
  const auto values = scan_values({.low = 1, .high = 100'000, .integers = true}, 100);
  CHECK(values.size() <= 100);
  CHECK(values.front() == 1);
  CHECK(values.back() == 100'000);
  for (std::size_t i = 1; i < values.size(); ++i) {
    CHECK(values[i] > values[i - 1]);
    CHECK(values[i] == std::floor(values[i]));
  }
}

TEST_CASE("crossings: every zero of a wave, with its direction") {
  const CrossingSearch search{.low = 0.5, .high = 40};
  const Found found = search_with(search, 129, [](double x) { return std::sin(x); });
  REQUIRE(found.crossings.size() == 12); // pi .. 12 pi
  for (std::size_t i = 0; i < 12; ++i) {
    const double zero = static_cast<double>(i + 1) * std::numbers::pi;
    CHECK(std::abs(found.crossings[i].at - zero) <= 1e-9 * zero);
    CHECK(found.crossings[i].rising == (i % 2 == 1));
    CHECK(std::abs(found.crossings[i].value) < 1e-8);
    CHECK_FALSE(found.crossings[i].beyond);
  }
  CHECK(found.evaluations < 12 * 15); // bisection alone needs 25 for each
}

TEST_CASE("crossings: no curve costs more than bisection and one step") {
  // Interpolation alone creeps along flat and steep ends.
  for (const double power : {0.02, 0.1, 9.0, 31.0}) {
    CAPTURE(power);
    const Found found = search_with({.low = 1, .high = 3}, 2, [&](double x) {
      return std::copysign(std::pow(std::abs(x - 1.3), power), x - 1.3);
    });
    REQUIRE(found.crossings.size() == 1);
    CHECK(found.crossings[0].at == within(1.3, 2e-9));
    CHECK(found.evaluations <= std::ceil(std::log2(2 / (1e-9 * 1.3))) + 2);
  }
}

TEST_CASE("crossings: two between neighbouring scanned points are found") {
  // (x - 5)^2 = 1e-6 at 4.999 and 5.001; scanned points are 0.2 apart there.
  const Found found = search_with({.low = 1, .high = 100, .target = 1e-6}, 100,
                                  [](double x) { return (x - 5) * (x - 5); });
  REQUIRE(found.crossings.size() == 2);
  CHECK(found.crossings[0].at == within(4.999, 1e-8));
  CHECK_FALSE(found.crossings[0].rising);
  CHECK(found.crossings[1].at == within(5.001, 1e-8));
  CHECK(found.crossings[1].rising);
}

TEST_CASE("crossings: a curve that turns back before the target has none") {
  const Found found = search_with({.low = 1, .high = 100, .target = -1e-6}, 100,
                                  [](double x) { return (x - 5) * (x - 5); });
  CHECK(found.crossings.empty());
  CHECK(found.evaluations > 0);
}

TEST_CASE("crossings: a curve that reaches the target and stays crosses it where it arrives") {
  const auto hidden = [](double x) { return std::max(0.0, 3 - x); };
  const Found down = search_with({.low = 1, .high = 10}, 50, hidden);
  REQUIRE(down.crossings.size() == 1);
  CHECK(down.crossings[0].at == within(3, 1e-9));
  CHECK(down.crossings[0].value == 0);
  CHECK_FALSE(down.crossings[0].rising);
  const Found up = search_with({.low = 1, .high = 10, .target = 2}, 50,
                               [&](double x) { return hidden(12 - x) + 2; });
  REQUIRE(up.crossings.size() == 1); // leaves 2 at x = 9
  CHECK(up.crossings[0].at == within(9, 1e-9));
  CHECK(up.crossings[0].rising);
  // Equal in the middle only: one crossing where it arrives, none where it goes on.
  const Found through = search_with({.low = 1, .high = 10}, 50,
                                    [](double x) { return x < 4 ? x - 4 : std::max(0.0, x - 6); });
  REQUIRE(through.crossings.size() == 1);
  CHECK(through.crossings[0].at == within(4, 1e-9));
  CHECK(through.crossings[0].rising);
}

TEST_CASE("crossings: a target at a scanned point counts once") {
  const Found found =
      search_with({.low = 0, .high = 4, .target = 2}, 5, [](double x) { return x; });
  REQUIRE(found.crossings.size() == 1);
  CHECK(found.crossings[0].at == 2);
  CHECK(search_with({.low = 0, .high = 4, .target = 0}, 5, [](double x) {
          return x;
        }).crossings.size() == 1);
  CHECK(search_with({.low = 0, .high = 4, .target = 4}, 5, [](double x) {
          return x;
        }).crossings.size() == 1);
  CHECK(search_with({.low = 0, .high = 4, .target = 1}, 5, [](double) {
          return 1.0;
        }).crossings.empty());
}

TEST_CASE("crossings: integers are exact, the answer meets the target") {
  const auto efficiency = [](double n) { return 1 / (1 + n / 1000); };
  for (const double high : {512.0, 1e6}) { // scanned one by one, and with gaps
    const Found found =
        search_with({.low = 1, .high = high, .target = 0.8, .integers = true}, 40, efficiency);
    REQUIRE(found.crossings.size() == 1);
    CHECK(found.crossings[0].at == 250); // 1 / (1 + 250/1000) = 0.8
    CHECK_FALSE(found.crossings[0].beyond);
  }
  const Found between =
      search_with({.low = 1, .high = 1e6, .target = 0.7999, .integers = true}, 40, efficiency);
  REQUIRE(between.crossings.size() == 1);
  CHECK(between.crossings[0].at == 250);
  REQUIRE(between.crossings[0].beyond);
  CHECK(between.crossings[0].beyond->at == 251);
  const Found at_most =
      search_with({.low = 1, .high = 1e6, .target = 0.7999, .integers = true, .at_least = false},
                  40, efficiency);
  REQUIRE(at_most.crossings.size() == 1);
  CHECK(at_most.crossings[0].at == 251);
}

TEST_CASE("crossings: a jump over the target is located and both sides are told") {
  const Found found = search_with({.low = 1, .high = 100, .target = 5}, 30,
                                  [](double x) { return x < 7.25 ? 4.0 : 6.0; });
  REQUIRE(found.crossings.size() == 1);
  CHECK(found.crossings[0].at == within(7.25, 1e-8));
  CHECK(found.crossings[0].value == 6);
  CHECK(found.crossings[0].rising);
  REQUIRE(found.crossings[0].beyond);
  CHECK(found.crossings[0].beyond->at == within(7.25, 1e-8));
  CHECK(*found.crossings[0].beyond->value == 4);
}

TEST_CASE("crossings: nothing is looked for next to points that fail") {
  const CrossingSearch search{.low = 1, .high = 4, .target = 2.5};
  const std::vector<Sample> scan{{1, 1}, {2, {}}, {3, 3}, {4, 2}};
  const auto crossings =
      find_crossings(search, scan, [](double x) { return std::optional<double>(6 - x); });
  REQUIRE(crossings.size() == 1);
  CHECK(crossings[0].at == within(3.5, 1e-12));
  CHECK_FALSE(crossings[0].rising);
}

TEST_CASE("crossings: the two roots of random kinked convex curves, however close") {
  constexpr unsigned kSeed = 7;
  std::mt19937_64 random(kSeed);
  int found_both = 0;
  for (int i = 0; i < 500; ++i) {
    CAPTURE(kSeed);
    CAPTURE(i);
    const auto uniform = [&](double low, double high) {
      return std::uniform_real_distribution<>(low, high)(random);
    };
    const double corner = std::exp(uniform(1.6, 5));
    const double left = uniform(0.1, 3);
    const double right = uniform(0.1, 3);
    const double depth = std::exp(uniform(-8, -1));
    const auto curve = [&](double x) {
      return x < corner ? left * (corner - x) : right * (x - corner);
    };
    const Found found = search_with({.low = 0.5, .high = 300, .target = depth}, 129, curve);
    REQUIRE(found.crossings.size() == 2);
    CHECK(found.crossings[0].at == within(corner - depth / left, 1e-8));
    CHECK(found.crossings[1].at == within(corner + depth / right, 1e-8));
    ++found_both;
  }
  CHECK(found_both == 500);
}
