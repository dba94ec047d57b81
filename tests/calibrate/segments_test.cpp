// Curves of several lines (CAL 4.3, 14, 15.2) and their evaluation.
#include "calibrate/core/group_fit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "calibrate/curves.hpp"
#include "links/profile/profile_curve.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::calibrate;
using stepsim::base::RandomStream;
using stepsim::links::CurveSegment;
using stepsim::testing::within;

namespace {

double squares(std::span<const Datum> data, std::size_t begin, std::size_t end) {
  const auto part = data.subspan(begin, end - begin);
  return relative_squares(fit_line(part).line, part);
}

// Over all breakpoints.
double least_squares(std::span<const Datum> data, std::size_t k) {
  const std::size_t N = data.size();
  double least = k == 1 ? squares(data, 0, N) : INFINITY;
  for (std::size_t i = 3; k == 2 && i + 3 <= N; ++i) {
    least = std::min(least, squares(data, 0, i) + squares(data, i, N));
  }
  for (std::size_t i = 3; k == 3 && i + 6 <= N; ++i) {
    for (std::size_t j = i + 3; j + 3 <= N; ++j) {
      least = std::min(least, squares(data, 0, i) + squares(data, i, j) + squares(data, j, N));
    }
  }
  return least;
}

} // namespace

TEST_CASE("best_segments: as good as the best of all breakpoints") {
  RandomStream random({.seed = 1});
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    const auto N = static_cast<std::size_t>(random.integer(6, 14));
    std::vector<Datum> data;
    double bytes = 1;
    for (std::size_t j = 0; j < N; ++j) {
      bytes *= random.uniform(1.1, 10);
      data.push_back({bytes, 1e-6 * std::pow(10, random.uniform(0, 4))});
    }
    for (std::size_t k = 1; k <= 3 && (k == 1 || 3 * k <= N); ++k) {
      CAPTURE(k);
      const Segmentation best = best_segments(data, k);
      CHECK(best.squares == within(least_squares(data, k), 1e-9));
      CHECK(best.ends.size() == k);
      CHECK(best.ends.back() == N);
    }
  }
}

TEST_CASE("choose_segments: a line stays one segment, a kink becomes two, both exact") {
  const SegmentChoice line = choose_segments(powers(10, 30, 2, 2e-5, 1e-10)); // F1
  CHECK(line.chosen.lines.size() == 1);
  CHECK(line.bic.size() == 3);

  std::vector<Datum> data = powers(10, 16, 1, 5e-6, 2e-10); // F3
  const std::vector<Datum> above = powers(17, 25, 1, 4e-5, 5e-11);
  data.insert(data.end(), above.begin(), above.end());
  const SegmentChoice kink = choose_segments(data);
  REQUIRE(kink.bic.size() == 3);
  CHECK(std::abs(kink.bic[0] - -32.17) < 0.01);
  CHECK(std::abs(kink.bic[1] - -428.23) < 0.01);
  CHECK(std::abs(kink.bic[2] - -419.92) < 0.01);
  // exact: S is taken as N 1e-12
  CHECK(kink.bic[1] == within(16 * std::log(1e-12) + 5 * std::log(16), 1e-9));
  REQUIRE(kink.chosen.ends == std::vector<std::size_t>{7, 16});
  CHECK(kink.chosen.lines[0].startup_s == within(5e-6, 1e-9));
  CHECK(kink.chosen.lines[0].per_byte_s == within(2e-10, 1e-9));
  CHECK(kink.chosen.lines[1].startup_s == within(4e-5, 1e-9));
  CHECK(kink.chosen.lines[1].per_byte_s == within(5e-11, 1e-9));
  const std::vector<CurveSegment> curve = curve_of(kink.chosen, data);
  CHECK(curve[0].from_bytes == 1024);
  CHECK(curve[0].to_bytes == 65536);
  CHECK(curve[1].from_bytes == 131072);
}

TEST_CASE("choose_segments: fewer than 6 points stay one segment, fewer than 9 never become 3") {
  RandomStream random({.seed = 2});
  for (std::size_t N = 2; N <= 9; ++N) {
    std::vector<Datum> data = powers(10, 9 + static_cast<int>(N), 1, 1e-6, 1e-10);
    for (Datum& datum : data) {
      datum.seconds *= random.uniform(0.5, 2);
    }
    CHECK(choose_segments(data).bic.size() == (N < 6 ? 1 : N < 9 ? 2 : 3));
  }
}

TEST_CASE("curve_seconds: 0 at 0, never falling, continuous inside a segment") {
  RandomStream random({.seed = 3});
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    std::vector<CurveSegment> curve;
    double bytes = 1000;
    for (int k = 0; k < 3; ++k) {
      const double from = bytes * random.uniform(1, 3);
      bytes = from * random.uniform(1, 10);
      curve.push_back({from, bytes, 1e-5 * random.uniform(), 1e-9 * random.uniform()});
    }
    double before = 0;
    CHECK(stepsim::links::curve_seconds(curve, 0) == 0);
    for (double n = 1; n < 1e7; n *= 1.01) {
      const double t = stepsim::links::curve_seconds(curve, n);
      CHECK(t >= before);
      before = t;
    }
    for (const CurveSegment& s : curve) {
      const double n = s.from_bytes + random.uniform() * (s.to_bytes - s.from_bytes);
      const double t = stepsim::links::curve_seconds(curve, n);
      CHECK(stepsim::links::curve_seconds(curve, n * (1 + 1e-9)) == within(t, 1e-8));
    }
  }
}

TEST_CASE("curve_seconds: the gap is cut at its geometric mean, where the next line holds") {
  // a = 1, 10; b = 1, 0.5: at the cut sqrt(100 x 400) = 200 the first gives 201, the second 110
  const std::vector<CurveSegment> curve{{10, 100, 1, 1}, {400, 1000, 10, 0.5}};
  CHECK(stepsim::links::curve_seconds(curve, 199) == 1 + 199);
  CHECK(stepsim::links::curve_seconds(curve, 201) == 1 + 200.0);        // held up
  CHECK(stepsim::links::curve_seconds(curve, 400) == 10 + 0.5 * 400);   // 210
  CHECK(stepsim::links::curve_seconds(curve, 2000) == 10 + 0.5 * 2000); // beyond
  CHECK(stepsim::links::curve_seconds(curve, 5) == 1 + 5);              // below
}
