// Streams of blocks over equal ranks: what a few ranks and slots tell is what the sweep over all
// transfers and their events say, within 1e-12, the rounding of thousands of sums.
#include "collectives/evaluate/streams.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <utility>

#include "base/random.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/point.hpp"
#include "collectives/random_streams.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::within;
using test::point;
constexpr double kSame = 1e-12;

void check_same(const Evaluation& quick, const Evaluation& general) {
  CHECK(quick.seconds == within(general.seconds, kSame));
  CHECK(quick.messages == general.messages);
  CHECK(quick.events == general.events);
  REQUIRE(quick.ranks.finish_s.size() == general.ranks.finish_s.size());
  for (std::size_t rank = 0; rank < general.ranks.finish_s.size(); ++rank) {
    CHECK(quick.ranks.finish_s[rank] == within(general.ranks.finish_s[rank], kSame));
  }
}

void check_both(const Collective& collective) {
  CAPTURE(name(collective.op));
  CAPTURE(name(collective.algorithm));
  CAPTURE(collective.ranks);
  CAPTURE(collective.bytes);
  REQUIRE(has_equal_streams(collective));
  check_same(max_plus(collective), max_plus(collective, false, false));
  check_same(events(collective), events(collective, false, false));
}

double one_of(base::RandomStream& random, std::initializer_list<double> values) {
  return values.begin()[random.integer(0, static_cast<std::int64_t>(values.size()) - 1)];
}

// Additions that take no time, less than the wire, more; with blocks of one size or a short last
// one; later blocks that start sooner than the first; one block to some hundreds.
Collective random_streams(base::RandomStream& random, AlgorithmId algorithm) {
  const auto ranks = static_cast<std::uint32_t>(random.integer(2, 40));
  const Op op = algorithm == AlgorithmId::double_binary_tree || random.integer(0, 1) == 0
                    ? Op::allreduce
                : random.integer(0, 1) == 0 ? Op::broadcast
                                            : Op::reduce;
  const double beta = random.uniform(1e-10, 1e-8);
  Collective collective = point(
      op, algorithm, ranks, static_cast<double>(random.integer(1, 400'000)),
      {random.uniform(0, 1e-5), beta, beta * one_of(random, {0, random.uniform(0, 1), 1, 3.7})});
  collective.links.all.block_latency_s *= one_of(random, {0, random.uniform(0, 1), 1, 1});
  test::draw_blocks(random, collective);
  if (random.integer(0, 3) == 0) {
    collective.enter_s.assign(ranks, random.uniform(0, 1e-3));
  }
  if (algorithm == AlgorithmId::lp && op == Op::allreduce && random.integer(0, 3) == 0) {
    collective.chain.resize(ranks);
    std::iota(collective.chain.begin(), collective.chain.end(), 0U);
    for (std::uint32_t i = ranks - 1; i > 0; --i) {
      std::swap(collective.chain[i],
                collective.chain[static_cast<std::size_t>(random.integer(0, i))]);
    }
  }
  return collective;
}

} // namespace

TEST_CASE("equal streams: a pipeline whose ranks are equal is what all its transfers give") {
  base::RandomStream random({.seed = 31});
  for (int instance = 0; instance < 400; ++instance) {
    CAPTURE(instance);
    check_both(random_streams(random, AlgorithmId::lp));
  }
}

TEST_CASE("equal streams: trees whose slots have a period are what all their transfers give") {
  base::RandomStream random({.seed = 32});
  for (int instance = 0; instance < 400; ++instance) {
    CAPTURE(instance);
    check_both(random_streams(random, AlgorithmId::double_binary_tree));
  }
}

TEST_CASE("equal streams: ranks beyond one node's worth, and one byte") {
  for (const auto algorithm : {AlgorithmId::lp, AlgorithmId::double_binary_tree}) {
    for (const std::uint32_t ranks : {2U, 3U, 64U, 255U, 300U}) {
      check_both(point(Op::allreduce, algorithm, ranks, 1, {1e-6, 1e-9, 1e-10}));
      check_both(point(Op::allreduce, algorithm, ranks, 2e6, {1e-6, 1e-9, 1e-10}));
      Collective one_node = point(Op::allreduce, algorithm, ranks, 2e6, {1e-6, 1e-9, 1e-10});
      one_node.links.two_level = TwoLevel{.gpus_per_node = ranks, .intra = {1e-7, 1e-7, 1e-11}};
      check_both(one_node);
    }
  }
}

TEST_CASE("equal streams: trees of every number of ranks up to 70, with one block and many") {
  for (std::uint32_t ranks = 2; ranks <= 70; ++ranks) {
    for (const double block_latency : {1e-6, 2e-7}) {
      for (const double bytes : {3.0, 999'983.0}) {
        Collective trees = point(Op::allreduce, AlgorithmId::double_binary_tree, ranks, bytes,
                                 {1e-6, 1e-9, ranks % 3 == 0 ? 0 : 2e-10});
        trees.links.all.block_latency_s = block_latency;
        trees.options.block = Bytes{10'007};
        check_both(trees);
      }
    }
  }
}

TEST_CASE("equal streams: only where ranks and links are alike and nothing is delayed") {
  for (const auto algorithm : {AlgorithmId::lp, AlgorithmId::double_binary_tree}) {
    const Collective alike = point(Op::allreduce, algorithm, 4, 1e6, {1e-6, 1e-9, 0});
    CHECK(has_equal_streams(alike));
    Collective other = alike;
    other.links.all.delay_s = 1e-6;
    CHECK(!has_equal_streams(other));
    other = alike;
    other.enter_s = {0, 0, 1, 0};
    CHECK(!has_equal_streams(other));
    other = alike;
    other.links.pairs = {{0, 1, {2e-6, 2e-6, 1e-9}}};
    CHECK(!has_equal_streams(other));
    other = alike;
    other.reduction_s_per_byte_rank = {0, 0, 0, 1e-10};
    CHECK(!has_equal_streams(other));
    other = alike;
    other.bytes = 0;
    CHECK(!has_equal_streams(other));
    other.options.empty_messages = true;
    CHECK(!has_equal_streams(other));
    other = alike;
    other.algorithm = AlgorithmId::ring;
    CHECK(!has_equal_streams(other));
  }
}

} // namespace stepsim::collectives
