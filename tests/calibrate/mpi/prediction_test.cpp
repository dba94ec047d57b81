#include "calibrate/mpi/prediction.hpp"

#include <doctest/doctest.h>

#include <bit>

#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::calibrate;
using namespace stepsim::calibrate::mpi;
using coll::AlgorithmId;
using coll::Op;
using testing::within;

namespace {

constexpr double kGamma = 3e-10;
constexpr double kTau = 3.1e-4;
constexpr double kBlock = 32768;

double pp(double n) { return 2e-5 + 1e-8 * n; }
double ex(double n) { return 3e-5 + 1.1e-8 * n; }
double sh(double n) { return 4e-5 + 1.2e-8 * n; }

StepCosts costs() {
  const auto line = [](double (*time)(double)) {
    return std::vector<Datum>{{0, time(0)}, {1000, time(1000)}, {1e7, time(1e7)}};
  };
  return {line(pp), line(ex), line(sh), kBlock, kTau, kGamma, 0};
}

double predicted(Op op, AlgorithmId algorithm, std::uint32_t ranks, std::int64_t bytes,
                 bool acknowledge = true) {
  return predict({op, algorithm}, ranks, bytes,
                 {.segment_bytes = static_cast<std::int64_t>(kBlock), .acknowledge = acknowledge},
                 costs());
}

} // namespace

TEST_CASE("prediction: mst takes L (t_pp(n) + t_pp(0)) out and L (t_pp(n) + n gamma) in") {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 5U, 8U, 16U}) {
    CAPTURE(ranks);
    const std::int64_t bytes = 1 << 20;
    const auto n = static_cast<double>(bytes);
    const double rounds = std::bit_width(ranks - 1);
    const double out = rounds * (pp(n) + pp(0));
    const double in = rounds * (pp(n) + n * kGamma);
    CHECK(predicted(Op::broadcast, AlgorithmId::mst, ranks, bytes) == within(out, 1e-12));
    CHECK(predicted(Op::reduce, AlgorithmId::mst, ranks, bytes) == within(in, 1e-12));
    CHECK(predicted(Op::broadcast, AlgorithmId::mst, ranks, bytes, false) ==
          within(rounds * pp(n), 1e-12));
    // The rank that ends the reduction is the one that starts the broadcast.
    CHECK(predicted(Op::allreduce, AlgorithmId::mst, ranks, bytes) == within(in + out, 1e-12));
  }
}

TEST_CASE("prediction: ring allreduce takes 2(P-1) t_sh(n/P) + (P-1)/P n gamma") {
  for (const std::uint32_t ranks : {3U, 4U, 8U}) {
    const std::int64_t bytes = std::int64_t{ranks} * 40'000;
    CHECK(predicted(Op::allreduce, AlgorithmId::ring, ranks, bytes) ==
          within(2 * (ranks - 1) * sh(40'000) + (ranks - 1) * 40'000 * kGamma, 1e-12));
  }
}

TEST_CASE("prediction: two ranks of a ring exchange") {
  CHECK(predicted(Op::allreduce, AlgorithmId::ring, 2, 80'000) ==
        within(2 * ex(40'000) + 40'000 * kGamma, 1e-12));
}

TEST_CASE(
    "prediction: ring broadcast and reduce take 2P - 2 steps, the first and the last one-way") {
  // P = 4: step 0 and step 5 are one message alone; in step 1 rank 0 only sends, but rank 1 does
  // both, and the slower end counts.
  const double n = 10'000;
  CHECK(predicted(Op::broadcast, AlgorithmId::ring, 4, 40'000) ==
        within(2 * pp(n) + 4 * sh(n), 1e-12));
}

TEST_CASE("prediction: be allreduce exchanges halves, and folds") {
  const std::int64_t bytes = 1 << 20;
  const auto n = static_cast<double>(bytes);
  for (const std::uint32_t core : {4U, 8U}) {
    double both = 0;
    for (double part = n / 2; part >= n / core; part /= 2) {
      both += 2 * ex(part);
    }
    const double expected = both + (core - 1.0) / core * n * kGamma;
    CHECK(predicted(Op::allreduce, AlgorithmId::be, core, bytes) == within(expected, 1e-12));
    CHECK(predicted(Op::allreduce, AlgorithmId::be, core + 1, bytes) ==
          within(expected + 2 * pp(n) + n * kGamma, 1e-12));
  }
}

TEST_CASE("prediction: recursive doubling exchanges everything log2 P times") {
  const std::int64_t bytes = 1 << 20;
  const auto n = static_cast<double>(bytes);
  const double eight = 3 * (ex(n) + n * kGamma);
  CHECK(predicted(Op::allreduce, AlgorithmId::recursive_doubling, 8, bytes) ==
        within(eight, 1e-12));
  CHECK(predicted(Op::allreduce, AlgorithmId::recursive_doubling, 13, bytes) ==
        within(eight + 2 * pp(n) + n * kGamma, 1e-12));
}

TEST_CASE("prediction: blocks of lp follow each other by tau") {
  const std::int64_t bytes = 64 * 32768;
  const double m = 64;
  for (const std::uint32_t ranks : {2U, 4U, 100U}) {
    CAPTURE(ranks);
    const double first = (ranks - 1) * pp(kBlock);
    const double adding = (ranks - 1) * kBlock * kGamma;
    const double rest = (m - 1) * kTau;
    CHECK(predicted(Op::broadcast, AlgorithmId::lp, ranks, bytes) == within(first + rest, 1e-12));
    CHECK(predicted(Op::reduce, AlgorithmId::lp, ranks, bytes) ==
          within(first + rest + adding, 1e-12));
    CHECK(predicted(Op::allreduce, AlgorithmId::lp, ranks, bytes) ==
          within(ranks * pp(kBlock) + (std::max(m, double(ranks)) + m - 2) * kTau + adding, 1e-12));
  }
}

TEST_CASE("prediction: a short last block of lp takes its part of tau") {
  const auto bytes = static_cast<std::int64_t>(7.25 * kBlock);
  CHECK(predicted(Op::broadcast, AlgorithmId::lp, 4, bytes) ==
        within(3 * pp(kBlock) + 6.25 * kTau, 1e-12));
  CHECK(predicted(Op::allreduce, AlgorithmId::lp, 4, bytes) ==
        within(4 * pp(kBlock) + 2 * 6.25 * kTau + 3 * kBlock * kGamma, 1e-12));
  double before = 0; // also where the blocks become as many as the ranks
  for (std::int64_t size = 4; size < bytes; size += 4096) {
    const double now = predicted(Op::allreduce, AlgorithmId::lp, 4, size);
    CHECK(now >= before);
    before = now;
  }
}

TEST_CASE("prediction: a message below a block of lp is one smaller block") {
  const std::int64_t bytes = 8192;
  CHECK(predicted(Op::broadcast, AlgorithmId::lp, 4, bytes) == within(3 * pp(8192), 1e-12));
  const double tau = kTau * 8192 / kBlock;
  CHECK(predicted(Op::allreduce, AlgorithmId::lp, 4, bytes) ==
        within(4 * pp(8192) + (4 + 1 - 2) * tau + 3 * 8192 * kGamma, 1e-12));
}

TEST_CASE("prediction: gtopk_tree merges on the way up and acknowledges on the way down") {
  StepCosts with_merge = costs();
  with_merge.merge_s = 7e-3;
  const double n = 8 * 1000;
  CHECK(predict({Op::allreduce, AlgorithmId::mst, true}, 8, 8000, {}, with_merge) ==
        within(3 * (pp(n) + 7e-3) + 3 * (pp(n) + pp(0)), 1e-12));
}

TEST_CASE("prediction: one rank and no bytes take no time") {
  for (const Kind& kind : kinds()) {
    CHECK(predict(kind, 1, 1 << 20, {}, costs()) == 0);
    CHECK(predict(kind, 4, 0, {}, costs()) == 0);
  }
}

TEST_CASE("prediction: curves are straight between sizes, level below and go on above") {
  const std::vector<Datum> curve{{4, 1.0}, {8, 2.0}, {16, 6.0}};
  CHECK(interpolated(curve, 0) == 1);
  CHECK(interpolated(curve, 4) == 1);
  CHECK(interpolated(curve, 6) == 1.5);
  CHECK(interpolated(curve, 8) == 2);
  CHECK(interpolated(curve, 14) == 5);
  CHECK(interpolated(curve, 20) == 6 + 4 * 0.5);
}

TEST_CASE("prediction: the largest part binds") {
  const Kind ring{Op::allreduce, AlgorithmId::ring};
  CHECK(bound_of(ring, 4, 64, {}, costs()) == "latency");
  CHECK(bound_of(ring, 4, 1 << 22, {}, costs()) == "bandwidth");
  StepCosts slow = costs();
  slow.gamma = 1e-6;
  CHECK(bound_of(ring, 4, 1 << 22, {}, slow) == "reduction");
  CHECK(bound_of({Op::broadcast, AlgorithmId::lp}, 4, 1 << 22, {}, slow) == "bandwidth");
}
