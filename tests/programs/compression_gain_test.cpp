#include "programs/step/compression_gain.hpp"
#include "testing/tolerance.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

using namespace stepsim::programs;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

// Row V30 of the acceptance values: 16 ranks, 50 us, 1e8 bytes in 4 buckets.
BreakEvenProblem four_buckets() {
  BreakEvenProblem problem;
  problem.ranks = 16;
  problem.latency_s = 50e-6;
  problem.gradient_bytes = 100'000'000;
  problem.bucket_bytes = 25'000'000;
  problem.backward_s = 0.1;
  problem.encode_decode_s = 0.05;
  problem.startup_s = 4 * 50e-6;           // topk: ceil(log2 16) alpha
  problem.sent_bytes = 15 * 250'000 * 8.0; // (P-1) k E, k = 1 % of 2.5e7
  return problem;
}

double difference(const BreakEvenProblem& problem, DenseBaseline baseline, double bandwidth) {
  return (baseline == DenseBaseline::overlapped ? dense_overlapped_s(problem, bandwidth)
                                                : dense_sequential_s(problem, bandwidth)) -
         compressed_s(problem, bandwidth);
}

BreakEvenProblem random_problem(std::mt19937_64& random) {
  const auto between = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution<>(std::log(low), std::log(high))(random));
  };
  BreakEvenProblem problem;
  problem.ranks = std::uniform_int_distribution<>(2, 64)(random);
  problem.latency_s = between(1e-7, 1e-3);
  problem.gradient_bytes = static_cast<std::int64_t>(between(1e3, 1e10));
  problem.bucket_bytes = static_cast<std::int64_t>(between(1e3, 1e9));
  problem.forward_s = between(1e-4, 1);
  problem.backward_s = between(1e-4, 1);
  problem.overlap_slowdown = std::uniform_real_distribution<>(1, 1.3)(random);
  problem.encode_decode_s = between(1e-6, 0.3);
  problem.startup_s = between(1e-6, 1e-2);
  problem.sent_bytes = between(1e-4, 4) * static_cast<double>(problem.gradient_bytes);
  return problem;
}

} // namespace

TEST_CASE("break-even: one bucket has no corner") {
  BreakEvenProblem problem = four_buckets();
  problem.bucket_bytes = problem.gradient_bytes;
  CHECK(buckets_of(problem).count == 1);
  // T_f + g T_b + A + c M x: with g = 1 the sequential time.
  CHECK(dense_overlapped_s(problem, 1e9) == within(dense_sequential_s(problem, 1e9), 1e-12));
  CHECK(compression_gain(problem, DenseBaseline::overlapped).break_even_Bps ==
        compression_gain(problem, DenseBaseline::sequential).break_even_Bps);
}

TEST_CASE("break-even: nowhere, everywhere, and equality is not a gain") {
  BreakEvenProblem problem = four_buckets();
  problem.encode_decode_s = 10;
  problem.sent_bytes = 4e8; // more than dense
  for (const DenseBaseline baseline : {DenseBaseline::overlapped, DenseBaseline::sequential}) {
    CHECK(compression_gain(problem, baseline).wins.empty());
    CHECK(compression_gain(problem, baseline).break_even_Bps.empty());
  }
  problem.encode_decode_s = 0;
  problem.startup_s = 0;
  problem.sent_bytes = 0;
  const BandwidthInterval all{0, std::nullopt};
  CHECK(compression_gain(problem, DenseBaseline::sequential).wins == std::vector{all});
  CHECK(compression_gain(problem, DenseBaseline::sequential).break_even_Bps.empty());
  // The ring itself: T_z = T_s everywhere.
  problem.startup_s = 2 * 15 * 50e-6;
  problem.sent_bytes = 2 * 15.0 / 16 * 1e8;
  CHECK(compression_gain(problem, DenseBaseline::sequential).wins.empty());
}

TEST_CASE("break-even: what only rounding tells from equality is no gain") {
  BreakEvenProblem problem; // slowed backward and the start of the ring are all that is spent
  problem.ranks = 3;
  problem.latency_s = 5e-5;
  problem.gradient_bytes = 110'000'000;
  problem.bucket_bytes = 25'000'000;
  problem.backward_s = 0.01;
  problem.overlap_slowdown = 1.1;
  problem.encode_decode_s = 0.001;
  problem.startup_s = 2 * 2 * 5e-5;
  problem.sent_bytes = 2 * 2 * 1.1e6 * 8;
  const CompressionGain gain = compression_gain(problem, DenseBaseline::overlapped);
  REQUIRE(gain.break_even_Bps.size() == 1);
  CHECK(gain.break_even_Bps[0] == within(1.0928e10, 1e-4));
}

TEST_CASE("break-even: curves that touch at the corner are equal there only") {
  BreakEvenProblem problem; // P = 2, A = 0, c = 1: T_d = max(1, x) + x, corner x = 1
  problem.gradient_bytes = 2;
  problem.bucket_bytes = 1;
  problem.backward_s = 1;
  problem.sent_bytes = 1.5; // T_z = 1 + T_e + 1.5 x; T_d - T_z = -x/2 - T_e, then x/2 - 1 - T_e
  problem.encode_decode_s = 0;
  const auto gain = compression_gain(problem, DenseBaseline::overlapped);
  CHECK(gain.break_even_Bps == std::vector<double>{0.5}); // x = 2
  problem.overlap_slowdown = 1.5; // corner 1.5: 0.5 - x/2, then x/2 - 1: below 0 in between
  CHECK(compression_gain(problem, DenseBaseline::overlapped).break_even_Bps ==
        std::vector<double>{0.5, 1});
  problem.overlap_slowdown = 2; // corner 2: 1 - x/2, then x/2 - 1: 0 at x = 2 only
  const auto touching = compression_gain(problem, DenseBaseline::overlapped);
  CHECK(touching.break_even_Bps == std::vector<double>{0.5});
  const BandwidthInterval slow{0, 0.5};
  const BandwidthInterval fast{0.5, std::nullopt};
  CHECK(touching.wins == std::vector{slow, fast});
}

TEST_CASE("break-even: on random problems the times agree at every root and change sign there") {
  constexpr unsigned kSeed = 20240607;
  std::mt19937_64 random(kSeed);
  int with_two = 0;
  for (int i = 0; i < 20'000; ++i) {
    CAPTURE(kSeed);
    CAPTURE(i);
    const BreakEvenProblem problem = random_problem(random);
    for (const DenseBaseline baseline : {DenseBaseline::overlapped, DenseBaseline::sequential}) {
      const CompressionGain gain = compression_gain(problem, baseline);
      with_two += gain.break_even_Bps.size() == 2 ? 1 : 0;
      for (const double root : gain.break_even_Bps) {
        const double scale = compressed_s(problem, root);
        CHECK(difference(problem, baseline, root) == plus_minus(0, 1e-12 * scale));
        const double below = difference(problem, baseline, root * (1 - 1e-6));
        const double above = difference(problem, baseline, root * (1 + 1e-6));
        CHECK(below * above <= 0);
      }
      // Any bandwidth is inside an interval exactly if the compressed time is less.
      for (const double bandwidth : {1e3, 1e5, 1e7, 1e8, 1e9, 1e10, 1e11, 1e13}) {
        bool inside = false;
        for (const BandwidthInterval& wins : gain.wins) {
          inside = inside || (bandwidth > wins.from_Bps && bandwidth < wins.to_Bps.value_or(1e300));
        }
        const double by = difference(problem, baseline, bandwidth);
        if (std::abs(by) > 1e-9 * compressed_s(problem, bandwidth)) {
          CHECK(inside == (by > 0));
        }
      }
    }
  }
  CHECK(with_two > 100);
}
