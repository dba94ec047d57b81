// Streams of blocks over links of any cost: without collecting transfers step by step, the times
// are those of the sweep over all transfers, and of their events where ranks and links are equal.
#include "collectives/evaluate/streams.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/blocks.hpp"
#include "collectives/method.hpp"
#include "collectives/nodes.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::within;
using test::on_nodes;
using test::point;
using test::Shape;

constexpr auto kBoth = {AlgorithmId::lp, AlgorithmId::double_binary_tree};

bool taken(const Collective& collective) {
  return streams(collective, make_schedule(collective)).has_value();
}

void check_same(const Evaluation& quick, const Evaluation& general) {
  constexpr double same = 1e-12; // periods are skipped, up to the rounding of sums
  CHECK(quick.messages == general.messages);
  CHECK(quick.seconds == within(general.seconds, same));
  REQUIRE(quick.ranks.finish_s.size() == general.ranks.finish_s.size());
  for (std::size_t rank = 0; rank < general.ranks.finish_s.size(); ++rank) {
    CHECK(quick.ranks.finish_s[rank] == within(general.ranks.finish_s[rank], same));
  }
}

void check_same(const Collective& collective) {
  CAPTURE(name(collective.op));
  CAPTURE(name(collective.algorithm));
  CAPTURE(collective.ranks);
  CAPTURE(collective.bytes);
  check_same(max_plus(collective), max_plus(collective, false, false));
  if (has_equal_streams(collective)) {
    const Evaluation quick = events(collective);
    const Evaluation general = events(collective, false, false);
    check_same(quick, general);
    CHECK(quick.events == general.events);
  }
}

// Nodes with one interface or several; latencies of 0 inside nodes, between them or in both places;
// delays, entry times, rates of adding and listed pairs of single ranks; one block to some
// hundreds. `equal`: up to 70 ranks and links that are alike; additions may outlast the wire.
Collective random_streams(base::RandomStream& random, AlgorithmId algorithm, bool equal) {
  const auto integer = [&](std::int64_t low, std::int64_t high) {
    return static_cast<std::uint32_t>(random.integer(low, high));
  };
  const Shape shape =
      equal ? Shape{integer(2, 70), 1, 1} : Shape{integer(2, 6), integer(2, 5), integer(1, 3)};
  const bool tree = algorithm == AlgorithmId::double_binary_tree;
  const Op op = tree || random.integer(0, 1) == 0 ? Op::allreduce
                : random.integer(0, 1) == 0       ? Op::broadcast
                                                  : Op::reduce;
  Collective collective = on_nodes(
      op, algorithm, shape, static_cast<double>(random.integer(1, 400'000)),
      random.integer(0, 1) == 0 ? 0 : random.uniform(0, equal ? 4 * test::kBetaAcross : 1e-9));
  for (LinkCost* cost : {&collective.links.all, &collective.links.two_level->intra}) {
    if (random.integer(0, 2) == 0) {
      cost->latency_s = cost->block_latency_s = 0;
    }
    cost->block_latency_s *= random.integer(0, 1) == 0 ? 1 : random.uniform(0, 1);
    cost->delay_s = !equal && random.integer(0, 2) == 0 ? random.uniform(0, 1e-5) : 0;
  }
  Options& options = collective.options;
  options.chunking = random.integer(0, 1) == 0 ? Chunking::real : Chunking::integer;
  options.element_bytes = random.integer(1, 4);
  options.reduction_mode =
      random.integer(0, 2) == 0 ? ReductionMode::serial : ReductionMode::overlapped;
  options.lp_last_hop = random.integer(0, 3) > 0;
  if (random.integer(0, 4) > 0) {
    const double parts = random.uniform(0.5, 300);
    options.block = Bytes{static_cast<std::int64_t>(collective.bytes / parts) + 1};
  }
  collective.root = op == Op::allreduce ? 0 : integer(0, collective.ranks - 1);
  if (equal) {
    collective.enter_s.assign(collective.ranks, random.uniform(0, 1e-3));
  } else {
    for (std::vector<double>* each : {&collective.enter_s, &collective.reduction_s_per_byte_rank}) {
      if (random.integer(0, 2) == 0) {
        for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
          each->push_back(random.uniform(0, each == &collective.enter_s ? 1e-3 : 1e-9));
        }
      }
    }
    if (random.integer(0, 2) == 0) {
      const std::uint32_t src = integer(0, collective.ranks - 2);
      collective.links.pairs = {{src, src + 1, {3e-6, 1e-6, 2e-10, 0}}};
    }
  }
  if (equal || random.integer(0, 3) == 0) {
    collective.links.two_level.reset();
  }
  if (!tree && op == Op::allreduce && random.integer(0, 3) == 0) {
    collective.chain.resize(collective.ranks);
    std::iota(collective.chain.begin(), collective.chain.end(), 0U);
    std::reverse(collective.chain.begin() + 1, collective.chain.end());
    std::swap(collective.chain[1], collective.chain[collective.ranks / 2]);
  }
  return collective;
}

} // namespace

TEST_CASE("streams: auto takes the time that the search for blocks has found, to the bit") {
  base::RandomStream random({.seed = 42});
  int searched = 0;
  for (int instance = 0; instance < 200; ++instance) {
    CAPTURE(instance);
    for (const AlgorithmId algorithm : kBoth) {
      Collective streams = random_streams(random, algorithm, false);
      streams.options.block.reset();
      streams.enter_s.clear();
      if (!streams.homogeneous()) {
        CHECK(candidate_cost(streams, algorithm) == max_plus(streams).seconds);
        searched += times_blocks(streams) ? 1 : 0;
      }
    }
  }
  CHECK(searched > 200);
}

TEST_CASE("streams: pipelines and trees are what all their transfers give") {
  base::RandomStream random({.seed = 41});
  int chains = 0;
  for (int instance = 0; instance < 1000; ++instance) {
    CAPTURE(instance);
    const bool equal = instance % 5 < 2;
    const Collective pipeline = random_streams(random, AlgorithmId::lp, equal);
    check_same(pipeline);
    chains += taken(pipeline) ? 1 : 0;
    const Collective trees = random_streams(random, AlgorithmId::double_binary_tree, equal);
    check_same(trees);
    CHECK(taken(trees));
    CHECK((!equal || (has_equal_streams(pipeline) && has_equal_streams(trees))));
  }
  CHECK(chains > 800); // all but some with an order of ranks that leaves nodes more often
}

TEST_CASE("streams: one rank and many, 0, 1 and P - 1 bytes, a size that no block divides") {
  for (const auto algorithm : kBoth) {
    for (const Shape& shape : {Shape{1, 1, 1}, Shape{2, 1, 1}, Shape{3, 2, 1}, Shape{40, 8, 2},
                               Shape{255, 1, 1}, Shape{1, 300, 1}}) {
      for (const double bytes : {0., 1., shape.ranks() - 1., 1e6 + 1}) {
        check_same(on_nodes(Op::allreduce, algorithm, shape, bytes));
      }
    }
  }
}

TEST_CASE("streams: equal only where ranks and links are alike and nothing is delayed") {
  for (const auto algorithm : kBoth) {
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

TEST_CASE("streams: a pipeline that leaves a node twice shares its interface: all is swept") {
  Collective twice = on_nodes(Op::allreduce, AlgorithmId::lp, {2, 2, 1}, 1e6);
  CHECK(taken(twice));
  twice.chain = {0, 2, 1, 3};
  CHECK(!taken(twice));
  twice.links.two_level->nics_per_node = 2;
  CHECK(taken(twice));
  check_same(twice);
  Collective other = on_nodes(Op::allreduce, AlgorithmId::ring, {2, 2, 1}, 1e6);
  CHECK(!taken(other));
  other.algorithm = AlgorithmId::hierarchical;
  CHECK(!taken(other));
}

TEST_CASE("streams: the estimate counts fewer seconds per transfer than of a sweep") {
  for (const auto algorithm : kBoth) {
    Collective quick = on_nodes(Op::allreduce, algorithm, {16, 8, 1}, 1e8);
    quick.options.block = Bytes{100'000};
    CHECK(3 * evaluation_seconds(quick, Method::max_plus) <
          evaluation_seconds(quick, Method::max_plus, true));
  }
}

} // namespace stepsim::collectives
