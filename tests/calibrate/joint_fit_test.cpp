// Latency, bandwidth and speed of adding from several collectives (CAL 4.5, 14, 15.2).
#include "calibrate/core/least_squares.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::calibrate;
using stepsim::base::RandomStream;
using stepsim::testing::within;

namespace {

struct Kind {
  std::string op, algorithm;
};

// F5: P = 2, 4, 8; n = 1e3, 1e5, 1e7.
std::vector<JointRow> rows_of(const std::vector<Kind>& kinds, const Counts& truth) {
  std::vector<JointRow> rows;
  for (const Kind& kind : kinds) {
    for (const std::int64_t ranks : {2, 4, 8}) {
      for (const double bytes : {1e3, 1e5, 1e7}) {
        const auto counts = cost_counts(kind.op, kind.algorithm, ranks, bytes);
        REQUIRE(counts);
        double seconds = 0;
        for (std::size_t i = 0; i < 3; ++i) {
          seconds += (*counts)[i] * truth[i];
        }
        rows.push_back({*counts, seconds});
      }
    }
  }
  return rows;
}

} // namespace

TEST_CASE("cost_counts: those of the closed forms, for what is linear") {
  CHECK(cost_counts("allreduce", "ring", 4, 1000) == Counts{6, 6.0 / 4 * 1000, 3.0 / 4 * 1000});
  CHECK(cost_counts("broadcast", "mst", 8, 1000) == Counts{3, 3000, 0});
  CHECK(cost_counts("pingpong", "", 2, 7) == Counts{1, 7, 0});
  CHECK_FALSE(cost_counts("allreduce", "nccl", 4, 1000)); // unknown
  CHECK_FALSE(cost_counts("broadcast", "ring", 4, 1000)); // no such pair
  CHECK_FALSE(cost_counts("allreduce", "lp", 4, 1000));   // its block size depends on n
  CHECK_FALSE(cost_counts("alltoall", "ring", 4, 1000));
  CHECK_FALSE(cost_counts("allreduce", "ring", 1, 1000)); // sends nothing
  CHECK_FALSE(cost_counts("allreduce", "ring", 4'294'967'298, 1000));
}

TEST_CASE("fit_jointly: all-reduces alone never tell beta from gamma") {
  const Counts truth{1e-5, 1e-10, 2e-11};
  for (const auto& kinds : {std::vector<Kind>{{"allreduce", "ring"}},
                            std::vector<Kind>{{"allreduce", "ring"}, {"allreduce", "mst"}}}) {
    const JointFit fit = fit_jointly(rows_of(kinds, truth));
    CHECK(fit.identifiable == std::array{true, true, false});
    CHECK(fit.values[0] == within(1e-5, 1e-6));
    CHECK(fit.values[1] == within(1e-10 + 2e-11 / 2, 1e-6)); // c = 2 g
    CHECK(fit.values[2] == 0);
    CHECK(fit.max_error < 1e-9);
  }
}

TEST_CASE("fit_jointly: with a broadcast all three come back") {
  RandomStream random({.seed = 1});
  for (int i = 0; i < 100; ++i) {
    CAPTURE(i);
    const Counts truth =
        i == 0 ? Counts{1e-5, 1e-10, 2e-11}
               : Counts{std::pow(10, random.uniform(-6, -4)), std::pow(10, random.uniform(-11, -9)),
                        std::pow(10, random.uniform(-11, -9))};
    const JointFit fit = fit_jointly(
        rows_of({{"allreduce", "ring"}, {"allreduce", "mst"}, {"broadcast", "mst"}}, truth));
    CHECK(fit.identifiable == std::array{true, true, true});
    for (std::size_t j = 0; j < 3; ++j) {
      CHECK(fit.values[j] == within(truth[j], 1e-6));
    }
  }
}

TEST_CASE("fit_jointly: a broadcast alone says nothing of adding, one size nothing of latency") {
  const JointFit broadcast = fit_jointly(rows_of({{"broadcast", "mst"}}, {1e-5, 1e-10, 0}));
  CHECK(broadcast.identifiable == std::array{true, true, false});
  const std::vector<JointRow> one{{{2, 1000, 500}, 1e-5}};
  const JointFit fit = fit_jointly(one);
  CHECK(fit.identifiable == std::array{true, false, false});
  CHECK(fit.values[0] == within(1e-5 / 2, 1e-9));
}

TEST_CASE("fit_jointly: no value is below 0, and intervals follow the covariance") {
  // t = -1 + n, held at alpha = 0: beta = sum w n t / sum w n^2
  std::vector<JointRow> rows;
  double nn = 0, nt = 0, squares = 0;
  for (const double n : {2.0, 3.0, 5.0, 9.0}) {
    rows.push_back({{1, n, 0}, n - 1});
    nn += n * n / ((n - 1) * (n - 1));
    nt += n / (n - 1);
  }
  const double beta = nt / nn;
  for (const JointRow& row : rows) {
    squares += std::pow(row.counts[1] * beta / row.seconds - 1, 2);
  }
  const JointFit fit = fit_jointly(rows);
  CHECK(fit.values[0] == 0);
  CHECK(fit.values[1] == within(beta, 1e-12));
  CHECK_FALSE(fit.intervals[0]);
  REQUIRE(fit.intervals[1]);
  CHECK(fit.intervals[1]->high ==
        within(beta + 3.18244630528371 * std::sqrt(squares / 3 / nn), 1e-9));
}
