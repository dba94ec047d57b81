#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/lower_bound.hpp"
#include "collectives/point.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::collectives;
using stepsim::collectives::test::kRates;
using stepsim::collectives::test::point;
using stepsim::testing::within;
using Id = AlgorithmId;

namespace {
auto near(double value) { return within(value, 1e-12); }
} // namespace

TEST_CASE("lower bound: latency, bandwidth and additions per operation") {
  const double n = 1e6;
  const double f = 5.0 / 6;
  const auto check = [&](Op op, double wire, double add) {
    CAPTURE(name(op));
    const LowerBound bound = lower_bound(point(op, Id::ring, 6, n, kRates));
    CHECK(bound.latency_s == near(3 * kRates.alpha));
    CHECK(bound.bandwidth_s == near(wire * n * kRates.beta));
    CHECK(bound.reduction_s == near(add * n * kRates.gamma));
    CHECK(bound.seconds() == std::max({bound.latency_s, bound.bandwidth_s, bound.reduction_s}));
  };
  check(Op::broadcast, 1, 0);
  check(Op::reduce, 1, f);
  check(Op::allreduce, 2 * f, f);
  check(Op::reduce_scatter, f, f);
  check(Op::allgather, f, 0);
}

TEST_CASE("lower bound: the rank with the smallest own part receives most in an all-gatherv") {
  Collective c = point(Op::allgatherv, Id::ring, 3, 0, {1, 1, 0});
  c.sizes = {5, 0, 2};
  CHECK(lower_bound(c).bandwidth_s == near(7));
}

TEST_CASE("lower bound: parts of whole bytes need not pass the slowest port") {
  // 39 bytes are 20 and 19: rank 0 gets 19 over a link of 5 s/B, rank 1 gets 20 at 1 s/B.
  Collective c = point(Op::allgather, Id::ring, 2, 39, {0, 1, 0});
  c.options.chunking = Chunking::integer;
  c.links.pairs_only = true;
  c.links.pairs = {{0, 1, {0, 0, 1}}, {1, 0, {0, 0, 5}}};
  CHECK(lower_bound(c).bandwidth_s == within(19 * 5, 1e-12));
  CHECK(max_plus(c).seconds == within(19 * 5, 1e-12));
  c.options.chunking = Chunking::real;
  CHECK(lower_bound(c).bandwidth_s == within(19.5 * 5, 1e-12));
}

TEST_CASE("lower bound: parameter servers") {
  Collective c = point(Op::allreduce, Id::parameter_server, 8, 1e6, kRates);
  const double n_beta = 1e6 * kRates.beta;
  CHECK(lower_bound(c).latency_s == near(2 * kRates.alpha));
  CHECK(lower_bound(c).bandwidth_s == near(8 * n_beta));
  c.options.servers = 16;
  CHECK(lower_bound(c).bandwidth_s == near(n_beta));
  c.options.servers = 2;
  c.options.placement = Placement::colocated;
  CHECK(lower_bound(c).bandwidth_s == near(3.5 * n_beta));
  c.options.placement = Placement::sharded;
  CHECK(lower_bound(c).bandwidth_s == near(7.0 / 8 * n_beta));
}

TEST_CASE("lower bound: a slow rank counts where it must send or receive") {
  Collective c = point(Op::broadcast, Id::mst, 3, 10, {0, 1, 0});
  c.links.pairs = {{2, 0, {0, 0, 100}}, {2, 1, {0, 0, 100}}}; // rank 2 sends slowly
  CHECK(lower_bound(c).bandwidth_s == near(10));              // nobody needs that
  c.op = Op::reduce;
  CHECK(lower_bound(c).bandwidth_s == near(10 * 100));
  c.root = 2;
  CHECK(lower_bound(c).bandwidth_s == near(10));
  c.op = Op::allreduce;
  CHECK(lower_bound(c).bandwidth_s == near(10 * 100));
}

TEST_CASE("lower bound: all ranks share the traffic of an all-reduce") {
  Collective c = point(Op::allreduce, Id::ring, 4, 12, {1, 1, 0});
  c.links.pairs = {{0, 1, {0.5, 0.5, 0.5}}};
  const LowerBound bound = lower_bound(c);
  CHECK(bound.bandwidth_s == near(std::max(12.0 * 1, 2 * 3 * 12.0 / (1 / 0.5 + 3))));
  CHECK(bound.latency_s == near(2 * 0.5));
  c.reduction_s_per_byte_rank = {1, 2, 2, 4};
  CHECK(lower_bound(c).reduction_s == near(3 * 12 / (1 + 0.5 + 0.5 + 0.25)));
  c.reduction_s_per_byte_rank[3] = 0; // could add everything
  CHECK(lower_bound(c).reduction_s == 0);
}

TEST_CASE("lower bound: nothing to do, no bound") {
  CHECK(lower_bound(point(Op::allreduce, Id::ring, 1, 1e6, kRates)).seconds() == 0);
  CHECK(lower_bound(point(Op::allreduce, Id::ring, 8, 0, kRates)).seconds() == 0);
}

TEST_CASE("lower bound: no schedule is below it, any links, rates and entry times") {
  constexpr std::uint64_t kSeed = 6;
  CAPTURE(kSeed);
  stepsim::base::RandomStream random({kSeed, 0, 0, 0, 0});
  for (int i = 0; i < 150; ++i) {
    for (const AlgorithmRow& row : algorithm_table()) {
      if (row.algorithm == Id::parameter_server ||
          stepsim::collectives::test::in_switch(row.algorithm)) {
        continue; // equal links only
      }
      const auto ranks = stepsim::collectives::test::fitting(
          row.algorithm, static_cast<std::uint32_t>(random.integer(2, 17)));
      Collective c = point(row.op, row.algorithm, ranks,
                           static_cast<double>(random.integer(0, i % 2 == 0 ? 40 : 5000)),
                           {random.uniform(0, 10), random.uniform(0.1, 2), random.uniform(0, 2)});
      c.options.chunking = i % 3 == 0 ? Chunking::real : Chunking::integer;
      c.options.reduction_mode = i % 2 == 0 ? ReductionMode::serial : ReductionMode::overlapped;
      c.root = static_cast<std::uint32_t>(random.integer(0, ranks - 1));
      if (i % 4 == 0) {
        for (std::uint32_t src = 0; src < ranks; ++src) {
          for (std::uint32_t dst = 0; dst < ranks; ++dst) {
            if (src != dst) {
              const double latency = random.uniform(0, 10);
              c.links.pairs.push_back({src, dst, {latency, latency, random.uniform(0.1, 5)}});
            }
          }
          c.reduction_s_per_byte_rank.push_back(random.uniform(0, 3));
        }
        c.links.pairs_only = true;
      } else if (i % 4 == 1) {
        c.links.two_level = TwoLevel{static_cast<std::uint32_t>(random.integer(1, 5)),
                                     static_cast<std::uint32_t>(random.integer(1, 5)),
                                     {0.1, 0.1, 0.05}};
        if (needs_equal_nodes(c) && ranks % c.links.two_level->gpus_per_node != 0) {
          continue;
        }
      } else if (i % 4 == 2) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
          c.enter_s.push_back(random.uniform(0, 50));
          c.sizes.push_back(static_cast<double>(random.integer(0, 9)));
        }
      }
      if (row.op != Op::allgatherv) {
        c.sizes.clear();
      }
      CAPTURE(i);
      CAPTURE(name(row.op));
      CAPTURE(name(row.algorithm));
      CAPTURE(ranks);
      CAPTURE(c.bytes);
      CHECK(max_plus(c).seconds >= lower_bound(c).seconds() * (1 - 1e-9));
    }
  }
}
