#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "base/random.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/blocks.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/point.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::collectives;
using stepsim::collectives::test::point;
using stepsim::collectives::test::Rates;
using stepsim::testing::within;
using Id = AlgorithmId;

namespace {

constexpr double kPreset = 67108864;
constexpr Rates kRates{1e-6, 1e-10, 0};

auto near(double value, double tolerance = 1e-9) { return within(value, tolerance); }

double with_block(Collective c, double block) {
  c.options.block = stepsim::Bytes{static_cast<std::int64_t>(block)};
  return closed_form(c).value().seconds;
}

} // namespace

TEST_CASE("block size: printed broadcast has its optimum at sqrt(n alpha / ((P-1) beta))") {
  for (const auto& [ranks, ms] : {std::pair{4U, 6.997666}, std::pair{8U, 7.151366}}) {
    Collective c = point(Op::broadcast, Id::lp, ranks, kPreset, kRates);
    c.options.cost_form = CostForm::paper;
    const double expected = std::sqrt(kPreset * 1e-6 / ((ranks - 1) * 1e-10));
    CHECK(resolve_blocks(c)->block_bytes == near(expected));
    CHECK(1e3 * closed_form(c)->seconds == near(ms, 1e-7));
    // A search over the block finds the same.
    double best_block = 0;
    double best = 1e9;
    for (double block = 4096; block < kPreset; block *= 1.0002) {
      if (const double seconds = with_block(c, block); seconds < best) {
        best = seconds;
        best_block = block;
      }
    }
    CHECK(best_block == near(expected, 1e-3));
    CHECK(best == near(closed_form(c)->seconds, 1e-6));
  }
  Collective two = point(Op::broadcast, Id::lp, 2, kPreset, kRates);
  two.options.cost_form = CostForm::paper;
  CHECK(resolve_blocks(two)->block_bytes == near(819200));
}

TEST_CASE("block size: best number of blocks of the exact forms") {
  struct Row {
    Op op;
    std::uint32_t ranks;
    std::int64_t blocks;
    double ms;
  };
  for (const Row& row : {Row{Op::broadcast, 3, 82, 6.875726}, Row{Op::broadcast, 4, 116, 6.944591},
                         Row{Op::allreduce, 2, 2, 13.425773}, Row{Op::allreduce, 3, 58, 13.654478},
                         Row{Op::allreduce, 4, 82, 13.751453}}) {
    CAPTURE(row.ranks);
    const Collective c = point(row.op, Id::lp, row.ranks, kPreset, kRates);
    const Blocks blocks = resolve_blocks(c).value();
    CHECK(blocks.blocks == row.blocks);
    CHECK(blocks.block_bytes == near(kPreset / static_cast<double>(row.blocks)));
    CHECK(1e3 * closed_form(c)->seconds == near(row.ms, 1e-7));
  }
}

TEST_CASE("block size: two ranks broadcast in one block") {
  const Collective c = point(Op::broadcast, Id::lp, 2, kPreset, kRates);
  CHECK(resolve_blocks(c)->blocks == 1);
}

TEST_CASE("block size: double tree of 8 ranks, m* = 77.46") {
  const Collective c = point(Op::allreduce, Id::double_binary_tree, 8, 1e8, {1e-5, 8e-10, 0});
  CHECK(std::sqrt((10 - 4) * 1e8 * 8e-10 / 8 / 1e-5) == near(77.46, 1e-4));
  CHECK(resolve_blocks(c)->blocks == 77);
  CHECK(resolve_blocks(c)->block_bytes == near(1e8 / (2 * 77)));
  CHECK(closed_form(c)->seconds == near(0.166256883, 1e-8));
}

TEST_CASE("block size: never below 4096 bytes by choice") {
  Collective c = point(Op::broadcast, Id::lp, 8, 1e6, {1e-6, 1e-10, 0});
  c.links.all.block_latency_s = 0; // blocks are free
  CHECK(resolve_blocks(c)->blocks == 244);
  c.options.chunking = Chunking::integer;
  CHECK(resolve_blocks(c)->block_bytes == std::ceil(1e6 / 244));
}

TEST_CASE("block size: other algorithms have none, a given block is kept") {
  CHECK_FALSE(resolve_blocks(point(Op::allreduce, Id::ring, 8, 1e6, kRates)).has_value());
  Collective c = point(Op::broadcast, Id::lp, 8, 1e6, kRates);
  c.options.block = stepsim::Bytes{300000};
  CHECK(resolve_blocks(c)->block_bytes == 300000);
  CHECK(resolve_blocks(c)->blocks == 4);
  CHECK_FALSE(resolve_blocks(c)->clamped);
}

TEST_CASE("block size: no other whole number of blocks is cheaper (random instances)") {
  constexpr std::uint64_t kSeed = 11;
  CAPTURE(kSeed);
  stepsim::base::RandomStream random({kSeed, 0, 0, 0, 0});
  for (int i = 0; i < 300; ++i) {
    const Op op = std::array{Op::broadcast, Op::reduce, Op::allreduce}[i % 3];
    const auto ranks = static_cast<std::uint32_t>(random.integer(2, 33));
    const double bytes = 720720 * static_cast<double>(random.integer(1, 4)); // has many divisors
    const double beta = std::pow(10, random.uniform(-11, -8));
    Collective c = point(op, Id::lp, ranks, bytes,
                         {std::pow(10, random.uniform(-7, -4)), beta, beta * random.uniform()});
    c.options.reduction_mode = i % 2 == 0 ? ReductionMode::serial : ReductionMode::overlapped;
    CAPTURE(i);
    CAPTURE(ranks);
    CAPTURE(bytes);
    const double chosen = closed_form(c).value().seconds;
    const std::int64_t most = std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes / 4096));
    for (std::int64_t m = 1; m <= most; ++m) {
      const double block = bytes / static_cast<double>(m);
      if (block == std::floor(block)) { // a given block has whole bytes
        CHECK(with_block(c, block) >= chosen * (1 - 1e-12));
      }
    }
  }
}

TEST_CASE("block size: a doubling search where there is no formula is within a factor 1.25") {
  constexpr std::uint64_t kSeed = 12;
  CAPTURE(kSeed);
  stepsim::base::RandomStream random({kSeed, 0, 0, 0, 0});
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    const auto ranks = static_cast<std::uint32_t>(random.integer(2, 9));
    const bool tree = i % 4 == 0;
    Collective c =
        point(i % 4 == 1 ? Op::reduce : Op::allreduce, tree ? Id::double_binary_tree : Id::lp,
              ranks, static_cast<double>(random.integer(4096, 400000)),
              {std::pow(10, random.uniform(-7, -4)), 1e-9, 1e-9 * random.uniform(1, 4)});
    if (i % 4 == 3) { // two ranks of a chain are further apart
      c.reduction_s_per_byte = 0;
      c.links.pairs = {{0, 1, {1e-5, 1e-5, 3e-9}}};
    }
    c.enter_s.assign(ranks, 0);
    c.enter_s[0] = 1e-3; // does not count
    const Blocks blocks = resolve_blocks(c).value();
    c.enter_s.clear();
    const double chosen = max_plus(c).seconds;
    const double stream = tree ? c.bytes / 2 : c.bytes;
    CHECK(blocks.blocks == std::ceil(stream / blocks.block_bytes));
    double best = chosen;
    for (double m = 1; m <= std::max(1.0, stream / 4096); ++m) {
      c.options.block = stepsim::Bytes{static_cast<std::int64_t>(std::ceil(stream / m))};
      best = std::min(best, max_plus(c).seconds);
    }
    CHECK(chosen <= 1.25 * best);
  }
}

TEST_CASE("block size: additions slower than the wire are searched, not left in one block") {
  const Collective c = point(Op::allreduce, Id::lp, 8, 1e7, {1e-6, 1e-10, 3e-10});
  CHECK_FALSE(closed_form(c).has_value());
  CHECK(resolve_blocks(c)->blocks >= 8);
  Collective one = c;
  one.options.block = stepsim::Bytes{10000000};
  CHECK(max_plus(c).seconds < 0.5 * max_plus(one).seconds);
}

TEST_CASE("block size: a tree carries half of the elements, as its schedule cuts them") {
  Collective c = point(Op::allreduce, Id::double_binary_tree, 6, 4 * 101, kRates);
  c.options.chunking = Chunking::integer;
  c.options.element_bytes = 4;
  c.options.block = stepsim::Bytes{1000};
  CHECK(resolve_blocks(c)->block_bytes == 4 * 51);
  CHECK(resolve_blocks(c)->clamped);
  double sent = 0; // by the first tree, in one block
  for (const TransferRecord& transfer : list_transfers(c, 1000)) {
    sent = std::max(sent, transfer.bytes);
  }
  CHECK(sent == 4 * 51);
}

TEST_CASE("a message of less than one element goes through one of two trees") {
  Collective c = point(Op::allreduce, Id::double_binary_tree, 6, 276, kRates);
  c.options.chunking = Chunking::integer;
  c.options.element_bytes = 1000;
  double sent = 0;
  for (const TransferRecord& transfer : list_transfers(c, 1000)) {
    sent = std::max(sent, transfer.bytes);
  }
  CHECK(sent == 276);
  CHECK(max_plus(c).seconds > 0);
}
