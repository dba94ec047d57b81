// Lines through measured times and their intervals (CAL 4.2, 4.4, 14, 15.2).
#include "calibrate/core/least_squares.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "calibrate/core/group_fit.hpp"
#include "calibrate/curves.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::calibrate;
using stepsim::base::RandomStream;
using stepsim::testing::within;

namespace {

// Two uniform numbers -> one of the normal distribution (Box, Muller).
double normal(RandomStream& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * 3.14159265358979323846 * random.uniform());
}

// One group of `passes` repetitions, the time of each from `measured(size, pass)`.
template <class Measured>
Group repeated(const std::vector<Datum>& truth, std::size_t passes, Measured measured) {
  stepsim::io::Samples file;
  auto& set = file.sets.emplace_back();
  set.op = "allreduce";
  set.ranks = 8;
  for (const Datum& datum : truth) {
    for (std::size_t pass = 0; pass < passes; ++pass) {
      set.samples.push_back({datum.bytes, measured(datum, pass), static_cast<std::int64_t>(pass)});
    }
  }
  return group_samples(std::vector{file}).front();
}

} // namespace

TEST_CASE("fit_line: points on a line give that line, in any order") {
  RandomStream random({.seed = 1});
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    const double A = std::pow(10, random.uniform(-7, -3));
    const double B = std::pow(10, random.uniform(-12, -8));
    std::vector<Datum> data = powers(10, 30, 2, A, B); // F1: 2^10, 2^12 .. 2^30
    for (std::size_t j = data.size() - 1; j > 0; --j) {
      std::swap(data[j],
                data[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(j)))]);
    }
    const Line line = fit_line(data).line;
    CHECK(line.startup_s == within(A, 1e-9));
    CHECK(line.per_byte_s == within(B, 1e-9));
    CHECK_FALSE(line.startup_at_bound);
  }
}

TEST_CASE("fit_line: times scaled by c scale A and B, sizes scaled by c divide B") {
  RandomStream random({.seed = 2});
  for (int i = 0; i < 100; ++i) {
    CAPTURE(i);
    std::vector<Datum> data = powers(8, 24, 1, 1e-5, 1e-9);
    for (Datum& datum : data) {
      datum.seconds *= random.uniform(0.8, 1.25);
    }
    const double c = std::pow(10, random.uniform(-3, 3));
    std::vector<Datum> slower = data;
    std::vector<Datum> larger = data;
    for (std::size_t j = 0; j < data.size(); ++j) {
      slower[j].seconds *= c;
      larger[j].bytes *= c;
    }
    const Line line = fit_line(data).line;
    CHECK(fit_line(slower).line.startup_s == within(c * line.startup_s, 1e-9));
    CHECK(fit_line(slower).line.per_byte_s == within(c * line.per_byte_s, 1e-9));
    CHECK(fit_line(larger).line.startup_s == within(line.startup_s, 1e-9));
    CHECK(fit_line(larger).line.per_byte_s == within(line.per_byte_s / c, 1e-9));
  }
}

TEST_CASE("fit_line: neither value is below 0, and no allowed line is better") {
  RandomStream random({.seed = 3});
  int at_bound = 0;
  for (int i = 0; i < 500; ++i) {
    CAPTURE(i);
    std::vector<Datum> data;
    for (int j = 0; j < 5; ++j) {
      data.push_back({std::pow(10, random.uniform(0, 6)), std::pow(10, random.uniform(-6, -3))});
    }
    const Line line = fit_line(data).line;
    CHECK(line.startup_s >= 0);
    CHECK(line.per_byte_s >= 0);
    at_bound += line.startup_at_bound || line.per_byte_at_bound ? 1 : 0;
    const double least = relative_squares(line, data);
    for (int j = 0; j < 50; ++j) {
      Line other{line.startup_s * random.uniform(0.9, 1.1) + random.uniform(0, 1e-7),
                 line.per_byte_s * random.uniform(0.9, 1.1) + random.uniform(0, 1e-12)};
      CHECK(relative_squares(other, data) >= least * (1 - 1e-12));
    }
  }
  CHECK(at_bound > 20);
}

TEST_CASE("fit_line: a size three times too slow moves the line, but not under Huber weights") {
  std::vector<Datum> data = powers(10, 30, 2, 2e-5, 1e-10); // F2
  std::ranges::find(data, 1048576.0, &Datum::bytes)->seconds *= 3;
  const Line line = fit_line(data).line;
  CHECK(line.startup_s == within(2.00838150e-5, 1e-6));
  CHECK(line.per_byte_s == within(1.0344325e-10, 1e-6));
  const Line robust = fit_line(data, Robust::huber).line;
  CHECK(robust.startup_s == within(2e-5, 1e-9));
  CHECK(robust.per_byte_s == within(1e-10, 1e-9));
}

TEST_CASE("fit_line: a start-up below 0 is held at 0") {
  std::vector<Datum> data; // F4: 1, 2, 4, 8 MB, t = -1e-4 + 1e-9 n
  double nn = 0;
  double nt = 0;
  for (const double n : {1e6, 2e6, 4e6, 8e6}) {
    data.push_back({n, -1e-4 + 1e-9 * n});
    nn += n * n / (data.back().seconds * data.back().seconds);
    nt += n / data.back().seconds;
  }
  const Line line = fit_line(data).line;
  CHECK(line.startup_s == 0);
  CHECK(line.startup_at_bound);
  CHECK(line.per_byte_s == within(nt / nn, 1e-12)); // sum w n t / sum w n^2
  CHECK(line.per_byte_s == within(9.5068449e-10, 1e-6));
  CHECK_FALSE(table_intervals(fit_line(data), data).startup_s);
}

TEST_CASE("fit_line: times that fall with size leave no slope") {
  const std::vector<Datum> data{{1e3, 3e-6}, {1e4, 2e-6}, {1e5, 2e-6}};
  const Line line = fit_line(data).line;
  CHECK(line.per_byte_s == 0);
  CHECK(line.per_byte_at_bound);
  // B = 0: A = sum w t / sum w = sum 1/t / sum 1/t^2
  CHECK(line.startup_s == within((1 / 3e-6 + 2 / 2e-6) / (1 / 9e-12 + 2 / 4e-12), 1e-12));
}

TEST_CASE("table_intervals: two points have none, three use t of one degree of freedom") {
  const std::vector<Datum> data{{1, 3}, {2, 5}, {3, 6}};
  CHECK_FALSE(
      table_intervals(fit_line(std::span(data).first(2)), std::span(data).first(2)).startup_s);
  const LineFit fit = fit_line(data);
  double w = 0, wn = 0, wnn = 0, squares = 0;
  for (const Datum& d : data) {
    const double weight = 1 / (d.seconds * d.seconds);
    w += weight;
    wn += weight * d.bytes;
    wnn += weight * d.bytes * d.bytes;
    squares += std::pow(relative_error(fit.line, d), 2);
  }
  const double D = w * wnn - wn * wn;
  const LineIntervals intervals = table_intervals(fit, data);
  REQUIRE(intervals.startup_s);
  CHECK(intervals.startup_s->low == 0); // cut
  CHECK(intervals.startup_s->high ==
        within(fit.line.startup_s + 12.7062047361747 * std::sqrt(squares * wnn / D), 1e-9));
  CHECK(intervals.per_byte_s->high ==
        within(fit.line.per_byte_s + 12.7062047361747 * std::sqrt(squares * w / D), 1e-9));
}

TEST_CASE("table_intervals: hold the truth in 90 to 99 % of noisy tables") {
  RandomStream random({.seed = 4});
  int startup = 0;
  int per_byte = 0;
  constexpr int kLines = 200;
  for (int i = 0; i < kLines; ++i) {
    const double A = std::pow(10, random.uniform(-6, -4));
    const double B = std::pow(10, random.uniform(-11, -9));
    std::vector<Datum> data = powers(10, 32, 2, A, B); // 12 sizes
    for (Datum& datum : data) {
      datum.seconds *= std::exp(0.03 * normal(random));
    }
    const LineIntervals intervals = table_intervals(fit_line(data), data);
    REQUIRE(intervals.startup_s);
    startup += intervals.startup_s->low <= A && A <= intervals.startup_s->high ? 1 : 0;
    per_byte += intervals.per_byte_s->low <= B && B <= intervals.per_byte_s->high ? 1 : 0;
  }
  INFO("seed 4; start-up " << startup << ", per byte " << per_byte << " of " << kLines);
  CHECK(startup >= 0.90 * kLines);
  CHECK(startup <= 0.99 * kLines);
  CHECK(per_byte >= 0.90 * kLines);
  CHECK(per_byte <= 0.99 * kLines);
}

TEST_CASE("fit_group: repeated samples with 10 % outliers of 3 x stay within 1 % of the truth") {
  RandomStream random({.seed = 5});
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    const double A = std::pow(10, random.uniform(-6, -4));
    const double B = std::pow(10, random.uniform(-11, -9));
    const Group group =
        repeated(powers(10, 30, 2, A, B), 20, [&](const Datum& datum, std::size_t pass) {
          const double noise = std::exp(0.003 * normal(random));
          return datum.seconds * noise * (pass % 10 == 0 ? 3 : 1);
        });
    CHECK(group.passes == 20);
    const GroupFit fit = fit_group(group, {});
    CHECK(fit.robust == Robust::huber);
    CHECK(fit.line.startup_s == within(A, 0.01));
    CHECK(fit.line.per_byte_s == within(B, 0.01));
  }
}

TEST_CASE("bootstrap_intervals: reproducible, of the seed, around the truth of noisy passes") {
  RandomStream random({.seed = 6});
  int held = 0;
  constexpr int kLines = 60;
  for (int i = 0; i < kLines; ++i) {
    const Group group =
        repeated(powers(10, 26, 2, 1e-5, 1e-10), 12, [&](const Datum& datum, std::size_t) {
          return datum.seconds * std::exp(0.03 * normal(random));
        });
    const LineIntervals intervals = fit_group(group, {.seed = 7}).intervals;
    REQUIRE(intervals.per_byte_s);
    held += intervals.per_byte_s->low <= 1e-10 && 1e-10 <= intervals.per_byte_s->high ? 1 : 0;
    if (i == 0) {
      CHECK(fit_group(group, {.seed = 7}).intervals.per_byte_s->low == intervals.per_byte_s->low);
      CHECK(fit_group(group, {.seed = 8}).intervals.per_byte_s->low != intervals.per_byte_s->low);
    }
  }
  // 12 passes: percentile intervals are somewhat short of 95 %.
  INFO("seed 6; held " << held << " of " << kLines);
  CHECK(held >= 0.80 * kLines);
  CHECK(held < kLines);
}

TEST_CASE("fit_group: grades by the largest error, and says what a bad fit may come from") {
  CHECK(grade_of(0.0999) == Grade::ok);
  CHECK(grade_of(0.10) == Grade::warn);
  CHECK(grade_of(0.2499) == Grade::warn);
  CHECK(grade_of(0.25) == Grade::fail);

  const GroupFit flat = fit_group(group_of({{1e3, 3e-6}, {1e4, 3e-6}, {1e5, 3e-6}}), {});
  CHECK(flat.grade == Grade::fail);
  CHECK(flat.failure == "allreduce P=8: time does not grow with size; bandwidth not identifiable");

  // Rate 1, 1, 1/4, 1 GB/s: nothing monotone fits.
  const GroupFit drop =
      fit_group(group_of({{1e6, 1e-3}, {2e6, 2e-3}, {4e6, 16e-3}, {8e6, 8e-3}}), {});
  CHECK(drop.grade == Grade::fail);
  CAPTURE(drop.failure);
  CHECK(drop.failure.find("rate not monotone in size (1.000 -> 0.2500 GB/s at 4000000 B)") !=
        std::string::npos);
  CHECK(drop.failure.find("(next ") != std::string::npos);
}

TEST_CASE("fit_group: a latency that large messages hide is uncertain") {
  // n_min B = 1e-2 s, 11 times A and 9 times A
  const GroupFit hidden = fit_group(group_of(powers(20, 24, 1, 1e-2 / 11, 1e-2 / 1048576)), {});
  REQUIRE(hidden.warnings.size() == 1);
  CHECK(hidden.warnings[0] == "allreduce P=8: smallest size 1.049 MB: latency is uncertain");
  CHECK(fit_group(group_of(powers(20, 24, 1, 1e-2 / 9, 1e-2 / 1048576)), {}).warnings.empty());
}

TEST_CASE("fit_line: a time whose square is no number leaves numbers") {
  for (const double shortest : {1e-308, 5e-324}) {
    const std::vector<Datum> data{{1024, 1e-5}, {1 << 20, shortest}, {1 << 26, 6e-3}};
    for (const Robust robust : {Robust::none, Robust::huber}) {
      const Line line = fit_line(data, robust).line;
      CHECK(line.startup_s >= 0);
      CHECK(line.per_byte_s >= 0);
    }
  }
}
