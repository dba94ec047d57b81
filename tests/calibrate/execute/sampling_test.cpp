// Sizes, order and number of samples (CAL 6).
#include "calibrate/execute/sampling.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::calibrate;
using stepsim::testing::within;

TEST_CASE("sampling: sizes rise by 2 from 4 B, moved by up to 5 %, with 0 and an indivisible one") {
  constexpr std::int64_t kMost = 1 << 24;
  for (const std::uint32_t ranks : {1U, 3U, 8U}) {
    const auto sizes = collective_sizes(kMost, ranks, false, 1);
    CHECK(sizes.front() == 0);
    CHECK(sizes[1] == 4);
    CHECK(sizes.back() <= kMost);
    CHECK(std::ranges::is_sorted(sizes));
    CHECK(std::ranges::all_of(sizes, [](std::int64_t size) { return size % 4 == 0; }));
    if (ranks > 1) {
      CHECK(std::ranges::any_of(sizes, [&](std::int64_t size) { return size / 4 % ranks == 1; }));
    }
    for (int power = 10; power < 24; ++power) {
      const double around = std::ldexp(1.0, power);
      CHECK(std::ranges::any_of(sizes, [&](std::int64_t size) {
        return std::abs(static_cast<double>(size) / around - 1) <= 0.05 + 4 / around;
      }));
    }
    CHECK(collective_sizes(kMost, ranks, true, 1).size() > 3 * sizes.size() / 2);
    CHECK(collective_sizes(kMost, ranks, false, 1) == sizes);
    CHECK(collective_sizes(kMost, ranks, false, 2) != sizes);
  }
  CHECK(kernel_sizes(1 << 20, false) == std::vector<std::int64_t>{1 << 16, 1 << 18, 1 << 20});
  CHECK(kernel_sizes(1000, false).empty());
}

TEST_CASE("sampling: every pass visits every block once, each in another order") {
  for (int pass = 0; pass < kPasses; ++pass) {
    auto order = visit_order(100, pass, 7);
    CHECK(order == visit_order(100, pass, 7));
    CHECK(order != visit_order(100, pass + 1, 7));
    std::ranges::sort(order);
    std::vector<std::size_t> all(100);
    std::iota(all.begin(), all.end(), std::size_t{0});
    CHECK(order == all);
  }
  CHECK(visit_order(0, 0, 1).empty());
}

TEST_CASE("sampling: a sample lasts a millisecond, with at least one call and not too many") {
  CHECK(repeats_for(2e-3) == 1);
  CHECK(repeats_for(1e-4) == 10); // 10 x 1e-4 s = 1 ms
  CHECK(repeats_for(3e-4) == 4);  // 4 x 3e-4 s >= 1 ms > 3 x 3e-4 s
  CHECK(repeats_for(0) == 2000);
}

TEST_CASE("sampling: half-width of the median by order statistics") {
  std::vector<double> values(25);
  std::iota(values.begin(), values.end(), 1.0);
  // j = floor((25 - 1.96 x 5) / 2) = 7: from the 7th to the 19th of 25, around 13.
  CHECK(median_half_width(values) == within((19 - 7) / 2.0 / 13, 1e-12));
  CHECK(std::isinf(median_half_width(std::vector<double>(5, 1.0))));
  CHECK(median_half_width(std::vector<double>(6, 1.0)) == 0);
}

TEST_CASE("sampling: the last pass goes on until the median is known, but not for ever") {
  constexpr std::size_t kLast = kPasses - 1;
  const auto of = [](std::size_t samples, double most) {
    base::RandomStream random({.seed = 4});
    std::vector<std::vector<double>> passes(kPasses);
    for (std::vector<double>& pass : passes) {
      for (std::size_t i = 0; i < samples; ++i) {
        pass.push_back(random.uniform(1, most));
      }
    }
    return passes;
  };
  CHECK(!enough(0, of(kSamplesPerPass - 1, 1)));
  CHECK(enough(0, of(kSamplesPerPass, 2)));
  CHECK(enough(kLast, of(kSamplesPerPass, 1)));
  CHECK(!enough(kLast, of(kSamplesPerPass, 2)));
  CHECK(enough(kLast, of(kMostSamplesPerPass, 2)));
  CHECK(kSamplesPerPass * kPasses >= 20);
}

TEST_CASE("sampling: a pass that differs from the others shows") {
  CHECK(pass_difference(std::vector<std::vector<double>>{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}) == 0);
  // The third against the median of the others, 1.
  CHECK(pass_difference(std::vector<std::vector<double>>{{1, 1, 1}, {1, 1, 1}, {1.2, 1.2, 1.2}}) ==
        within(0.2, 1e-12));
  CHECK(pass_difference(std::vector<std::vector<double>>{{1, 2}, {}, {}}) == 0);
}
