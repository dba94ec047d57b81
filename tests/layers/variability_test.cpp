#include "layers/variability.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "base/random.hpp"
#include "programs/factors.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::layers;
using namespace stepsim::programs;
using stepsim::base::u01;
using stepsim::testing::within;

namespace {

struct Moments {
  double mean{}, cv{}, smallest = 1e300;
};

Moments moments(const Variability& variability, std::int64_t samples) {
  const Jitter jitter(variability, 2);
  double sum = 0, squares = 0;
  Moments result;
  for (std::int64_t i = 1; i <= samples; ++i) {
    const double value = jitter.compute(1, i);
    sum += value;
    squares += value * value;
    result.smallest = std::min(result.smallest, value);
  }
  const auto n = static_cast<double>(samples);
  result.mean = sum / n;
  result.cv = std::sqrt(squares / n - result.mean * result.mean) / result.mean;
  return result;
}

} // namespace

TEST_CASE("jitter: factors follow their formulas, draw by draw") {
  Variability variability{.compute_cv = 0.3, .exchange_cv = 0.2, .seed = 11};
  for (const std::int64_t t : {1, 2, 1000}) {
    CAPTURE(t);
    const double u = u01(11, 16, 3, t, 0);
    const double z =
        std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * std::numbers::pi * u01(11, 16, 3, t, 1));
    const double variance = std::log(1 + 0.3 * 0.3);
    variability.law = JitterLaw::lognormal;
    CHECK(compute_factor(variability, 3, t) ==
          within(std::exp(std::sqrt(variance) * z - variance / 2), 1e-14));
    variability.law = JitterLaw::uniform;
    CHECK(compute_factor(variability, 3, t) ==
          within(1 + std::sqrt(3.0) * 0.3 * (2 * u - 1), 1e-14));
    // Exchange: stream 17, worker 0, its own coefficient.
    const double v = u01(11, 17, 0, t, 0);
    CHECK(exchange_factor(variability, t) == within(1 + std::sqrt(3.0) * 0.2 * (2 * v - 1), 1e-14));
    const Variability exponential{.compute_cv = 1, .law = JitterLaw::exponential, .seed = 11};
    CHECK(compute_factor(exponential, 3, t) == within(-std::log(1 - u), 1e-14));
    // Mean of 1, 2, 6 is 3.
    const Variability list{
        .compute_cv = 1, .law = JitterLaw::empirical, .factors = {1, 2, 6}, .seed = 11};
    const std::vector<double> scaled{1.0 / 3, 2.0 / 3, 2};
    CHECK(compute_factor(list, 3, t) == within(scaled[static_cast<std::size_t>(u * 3)], 1e-12));
  }
}

TEST_CASE("jitter: every law has mean 1 and its coefficient of variation") {
  constexpr std::int64_t kSamples = 200000;
  // Standard errors: of the mean cv / sqrt(N) = 0.0022 cv, of the cv below 0.01 cv here except for
  // the lognormal law with cv 1, whose fourth moment is large.
  const auto check = [](JitterLaw law, double cv, double tolerance) {
    CAPTURE(static_cast<int>(law));
    CAPTURE(cv);
    const Moments found = moments({.compute_cv = cv, .law = law, .seed = 5}, kSamples);
    CHECK(found.mean == within(1, 0.01 * cv));
    CHECK(found.cv == within(cv, tolerance));
    CHECK(found.smallest >= 0);
  };
  check(JitterLaw::lognormal, 0.05, 0.01);
  check(JitterLaw::lognormal, 0.5, 0.02);
  check(JitterLaw::lognormal, 1.0, 0.06);
  check(JitterLaw::uniform, 0.1, 0.01);
  check(JitterLaw::uniform, 1 / std::sqrt(3.0), 0.01);
  check(JitterLaw::exponential, 1.0, 0.02);
  check(JitterLaw::gamma, 0.1, 0.005);
  check(JitterLaw::gamma, 0.5, 0.008);
  check(JitterLaw::gamma, 1.0, 0.02);
  check(JitterLaw::gamma, 2.0, 0.05); // shape 1/4: drawn as shape 5/4 times u^4
  // 1, 2, 6: mean 3, variance (4 + 1 + 9) / 3.
  const Moments list =
      moments({.compute_cv = 1, .law = JitterLaw::empirical, .factors = {1, 2, 6}}, kSamples);
  CHECK(list.mean == within(1, 0.01));
  CHECK(list.cv == within(std::sqrt(14.0 / 3) / 3, 0.01));
}

TEST_CASE("jitter: the gamma law with cv 1 is the exponential one") {
  // Share of factors above 1, 2, 3 is exp(-1), exp(-2), exp(-3); standard error below 0.0011.
  const Variability variability{.compute_cv = 1, .law = JitterLaw::gamma, .seed = 9};
  constexpr int kSamples = 200000;
  for (const int above : {1, 2, 3}) {
    int count = 0;
    for (int i = 1; i <= kSamples; ++i) {
      count += compute_factor(variability, 0, i) > above ? 1 : 0;
    }
    CHECK(static_cast<double>(count) / kSamples == within(std::exp(-above), 0.03));
  }
}

TEST_CASE("jitter: cv 0 draws nothing and stragglers multiply") {
  Variability variability{.stragglers = {{2, 1.5}}};
  CHECK(compute_factor(variability, 2, 1) == 1.5);
  CHECK(compute_factor(variability, 1, 1) == 1);
  CHECK(exchange_factor(variability, 1) == 1);
  variability.compute_cv = 0.2;
  Variability without = variability;
  without.stragglers.clear();
  CHECK(compute_factor(variability, 2, 7) == 1.5 * compute_factor(without, 2, 7));
  CHECK(compute_factor(variability, 1, 7) == compute_factor(without, 1, 7));
  CHECK(exchange_factor(variability, 7) == 1); // exchange_cv is still 0
}

TEST_CASE("jitter: workers, iterations, streams and seeds draw different factors") {
  const Variability one{.compute_cv = 0.2, .exchange_cv = 0.2, .seed = 1};
  Variability two = one;
  two.seed = 2;
  CHECK(compute_factor(one, 0, 1) != compute_factor(one, 1, 1));
  CHECK(compute_factor(one, 0, 1) != compute_factor(one, 0, 2));
  CHECK(compute_factor(one, 0, 1) != exchange_factor(one, 1));
  CHECK(compute_factor(one, 0, 1) != compute_factor(two, 0, 1));
  CHECK(compute_factor(one, 5, 9) == compute_factor(one, 5, 9));
}
