#include "base/statistics.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "base/random.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::base;
using stepsim::testing::within;

TEST_CASE("median: the middle value, or the mean of the middle two, whatever the order") {
  CHECK(median(std::vector{7.0}) == 7.0);
  CHECK(median(std::vector{3.0, 1.0, 2.0}) == 2.0);
  CHECK(median(std::vector{4.0, 1.0, 10.0, 2.0}) == (2.0 + 4.0) / 2);
}

TEST_CASE("quantile: linear between the neighbours of sorted values") {
  CHECK(quantile(std::vector{7.0}, 0.95) == 7.0);
  const std::vector sorted{1.0, 2.0, 4.0, 8.0, 16.0};
  CHECK(quantile(sorted, 0) == 1.0);
  CHECK(quantile(sorted, 0.5) == median(sorted));
  CHECK(quantile(sorted, 0.95) == within(8 + 0.8 * (16 - 8), 1e-12)); // place 0.95 x 4 = 3.8
  CHECK(quantile(sorted, 1) == 16.0);
}

TEST_CASE("fit_line: points on a line return the line with r squared 1") {
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 1; i <= 63; ++i) {
    x.push_back(32768.0 * i);
    y.push_back(1e-3 + 2e-9 * x.back());
  }
  const LineFit fit = fit_line(x, y);
  CHECK(fit.intercept == within(1e-3, 1e-12));
  CHECK(fit.slope == within(2e-9, 1e-12));
  CHECK(fit.r_squared == within(1.0, 1e-12));
}

TEST_CASE("fit_line: three points off the line follow the normal equations") {
  // x = 0, 1, 2; y = 0, 2, 1: slope = sum (x-1)(y-1) / sum (x-1)^2 = (1 + 0 + 0) / 2
  const LineFit fit = fit_line(std::vector{0.0, 1.0, 2.0}, std::vector{0.0, 2.0, 1.0});
  CHECK(fit.slope == within(1.0 / 2, 1e-12));
  CHECK(fit.intercept == within(1.0 - 1.0 / 2 * 1.0, 1e-12));
  // residuals -1/2, 1, -1/2 against deviations -1, 1, 0
  CHECK(fit.r_squared == within(1 - 1.5 / 2.0, 1e-12));
}

TEST_CASE("fit_line: equal y is a flat line, fully explained") {
  const LineFit fit = fit_line(std::vector{1.0, 2.0}, std::vector{5.0, 5.0});
  CHECK(fit.slope == 0.0);
  CHECK(fit.intercept == 5.0);
  CHECK(fit.r_squared == 1.0);
}

TEST_CASE("isotonic_fit: an ascending list is left as it is") {
  const std::vector<double> values{1, 1, 2, 5};
  const IsotonicFit fit = isotonic_fit(values);
  CHECK(fit.values == values);
  CHECK(fit.points_changed == 0);
  CHECK(fit.largest_change == 0.0);
  CHECK(isotonic_fit({}).values.empty());
}

TEST_CASE("isotonic_fit: violators are pooled to their mean, also backwards over several blocks") {
  const IsotonicFit pair = isotonic_fit(std::vector{1.0, 1.5, 1.3, 3.0});
  CHECK(pair.values[1] == within((1.5 + 1.3) / 2, 1e-12));
  CHECK(pair.values[2] == pair.values[1]);
  CHECK(pair.points_changed == 2);
  CHECK(pair.largest_change == within((1.4 - 1.3) / 1.3, 1e-12));

  const IsotonicFit all = isotonic_fit(std::vector{4.0, 5.0, 3.0, 0.0});
  CHECK(all.values == std::vector<double>(4, (4.0 + 5.0 + 3.0 + 0.0) / 4));
  CHECK(all.points_changed == 3);        // the mean is 3, so the third value stays
  CHECK(std::isinf(all.largest_change)); // 0 became 3
}

TEST_CASE("isotonic_fit: no other non-decreasing sequence is nearer (against max-min averages)") {
  // The least-squares isotonic value at i is max over j <= i of min over k >= i of mean(j..k).
  const std::uint64_t seed = 11;
  CAPTURE(seed);
  for (std::uint64_t instance = 0; instance < 300; ++instance) {
    RandomStream random({.seed = seed, .point = instance});
    std::vector<double> values(static_cast<std::size_t>(random.integer(1, 12)));
    for (double& value : values) {
      value = static_cast<double>(random.integer(1, 9));
    }
    const IsotonicFit fit = isotonic_fit(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      double best = -1;
      for (std::size_t j = 0; j <= i; ++j) {
        double lowest = 100;
        double sum = 0;
        for (std::size_t k = j; k < values.size(); ++k) {
          sum += values[k];
          if (k >= i) {
            lowest = std::min(lowest, sum / static_cast<double>(k - j + 1));
          }
        }
        best = std::max(best, lowest);
      }
      CHECK(fit.values[i] == within(best, 1e-12));
    }
  }
}
