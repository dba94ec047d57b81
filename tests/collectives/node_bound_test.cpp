// Lower bounds of nodes with several GPUs and network cards (CLU 4): values, what limits, and that
// no evaluator of any algorithm is below them.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/evaluate/server_flows.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/formula/lower_bound.hpp"
#include "collectives/method.hpp"
#include "collectives/nodes.hpp"
#include "collectives/record.hpp"
#include "nccl/node_links.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using nccl::BoundKind;
using stepsim::testing::within;
using test::Shape;

constexpr double kSlack = 1e-9;

Collective on_nodes(Op op, const Shape& shape, double bytes) {
  return test::on_nodes(op, AlgorithmId::automatic, shape, bytes);
}

TEST_CASE("node bound: values of CLU 16.3") {
  struct Row {
    Shape shape;
    double bytes, allreduce_us, allgather_us, alltoall_us;
  };
  for (const Row& row : std::vector<Row>{{{1, 8, 8}, 64000, 6, 6, 2},
                                         {{1, 8, 8}, 1e8, 583.333, 291.667, 291.667},
                                         {{2, 8, 8}, 64000, 8, 8, 8},
                                         {{2, 8, 8}, 1e8, 576.923, 288.462, 2000},
                                         {{2, 8, 2}, 64000, 8, 8, 8},
                                         {{2, 8, 2}, 1e8, 2000, 1000, 8000},
                                         {{4, 4, 4}, 64000, 16, 16, 8},
                                         {{4, 4, 4}, 1e8, 1500, 750, 3000},
                                         {{4, 4, 2}, 64000, 16, 16, 8},
                                         {{4, 4, 2}, 1e8, 3000, 1500, 6000},
                                         {{3, 4, 1}, 64000, 16, 16, 8},
                                         {{3, 4, 1}, 1e8, 5333.33, 2666.67, 10666.7},
                                         {{8, 1, 1}, 64000, 24, 24, 8},
                                         {{8, 1, 1}, 1e8, 7000, 3500, 3500},
                                         {{10, 8, 8}, 64000, 32, 32, 8},
                                         {{10, 8, 8}, 1e8, 900, 450, 3600}}) {
    CAPTURE(row.shape.nodes);
    CAPTURE(row.shape.gpus);
    CAPTURE(row.bytes);
    const auto us = [&](Op op) {
      return lower_bound(on_nodes(op, row.shape, row.bytes)).seconds() * 1e6;
    };
    CHECK(us(Op::allreduce) == within(row.allreduce_us, 1e-5));
    CHECK(us(Op::allgather) == within(row.allgather_us, 1e-5));
    CHECK(us(Op::reduce_scatter) == within(row.allgather_us, 1e-5));
    CHECK(us(Op::alltoall) == within(row.alltoall_us, 1e-5));
  }
}

TEST_CASE("node bound: broadcast and reduce pass every node and every GPU once") {
  // 4 nodes of 4 GPUs: cards of a node 25 or 100 GB/s, ports of a GPU 300 GB/s + a quarter of
  // these.
  for (const Op op : {Op::broadcast, Op::reduce}) {
    CHECK(lower_bound(on_nodes(op, {4, 4, 1}, 1e8)).bandwidth_s == within(1e8 / 25e9, kSlack));
    CHECK(lower_bound(on_nodes(op, {4, 4, 4}, 1e8)).bandwidth_s == within(1e8 / 100e9, kSlack));
    Collective slow_inside = on_nodes(op, {4, 4, 4}, 1e8);
    slow_inside.links.two_level->intra.per_byte_s = 1 / 10e9;
    CHECK(lower_bound(slow_inside).bandwidth_s == within(1e8 / (10e9 + 25e9), kSlack));
    CHECK(lower_bound(slow_inside).kind() == BoundKind::gpu);
  }
}

TEST_CASE("node bound: the kind names the largest term") {
  const auto kind = [](const Collective& collective) { return lower_bound(collective).kind(); };
  CHECK(kind(on_nodes(Op::allreduce, {1, 8, 8}, 1e8)) == BoundKind::gpu);
  CHECK(kind(on_nodes(Op::allreduce, {2, 8, 8}, 1e8)) == BoundKind::gpu);
  CHECK(kind(on_nodes(Op::allreduce, {2, 8, 2}, 1e8)) == BoundKind::nic);
  CHECK(kind(on_nodes(Op::allreduce, {8, 1, 1}, 1e8)) == BoundKind::nic);
  CHECK(kind(on_nodes(Op::allreduce, {2, 8, 2}, 64000)) == BoundKind::latency);
  Collective slow_sums = on_nodes(Op::allreduce, {2, 8, 2}, 1e8);
  slow_sums.reduction_s_per_byte = 1e-9;
  CHECK(kind(slow_sums) == BoundKind::reduction);
  CHECK(lower_bound(slow_sums).seconds() == within(15.0 / 16 * 1e8 * 1e-9, kSlack));
  slow_sums.op = Op::allgather;
  CHECK(kind(slow_sums) == BoundKind::nic);
}

TEST_CASE("node bound: one node, or one rank a node, is the flat bound of COL 6") {
  for (const Op op : {Op::broadcast, Op::reduce, Op::allreduce, Op::reduce_scatter, Op::allgather,
                      Op::alltoall}) {
    for (const double bytes : {0.0, 1.0, 64000.0, 1e8}) {
      Collective flat = on_nodes(op, {6, 1, 1}, bytes);
      const LowerBound between = lower_bound(flat);
      flat.links.two_level.reset();
      CHECK(lower_bound(flat).seconds() == between.seconds());
      const LowerBound inside = lower_bound(on_nodes(op, {1, 6, 3}, bytes));
      flat.links.all = {2e-6, 2e-6, 1 / 300e9};
      CHECK(lower_bound(flat).seconds() == inside.seconds());
    }
  }
}

TEST_CASE("node bound: cards beyond the GPUs of a node count for nothing") {
  for (const Op op : {Op::allreduce, Op::alltoall}) {
    CHECK(lower_bound(on_nodes(op, {3, 4, 9}, 1e8)).seconds() ==
          lower_bound(on_nodes(op, {3, 4, 4}, 1e8)).seconds());
  }
}

TEST_CASE("node bound: the node with the smallest part of an all-gatherv receives the most") {
  Collective collective = on_nodes(Op::allgatherv, {2, 2, 1}, 0);
  collective.sizes = {0, 1e6, 4e6, 5e6}; // node 0 gets 9 MB over its card
  CHECK(lower_bound(collective).bandwidth_s == within(9e6 / 25e9, kSlack));
  CHECK(lower_bound(collective).kind() == BoundKind::nic);
}

TEST_CASE("node bound: records say what limits") {
  Collective collective = on_nodes(Op::alltoall, {2, 8, 8}, 1e8);
  const CollectiveRecord record = make_record(collective, AskedMethod::automatic);
  CHECK(record.lower_bounds.kind() == BoundKind::nic);
  CHECK(*record.gap_ratio == within(2064.0 / 2000, kSlack));
  CHECK(bus_factor(Op::alltoall, 16) == 15.0 / 16);
  CHECK(bus_factor(Op::allgatherv, 4) == 3.0 / 4);
}

// Any operation by any of its algorithms on nodes of any size, also of unequal sizes.
Collective random_cluster(base::RandomStream& random, const AlgorithmRow& row) {
  const auto integer = [&](std::int64_t low, std::int64_t high) {
    return static_cast<std::uint32_t>(random.integer(low, high));
  };
  Collective collective;
  collective.op = row.op;
  collective.algorithm = row.algorithm;
  const std::uint32_t gpus = integer(1, 6);
  collective.ranks = gpus * integer(1, 6);
  if (!algorithm(row.algorithm).needs_equal_nodes) {
    collective.ranks = std::max(1U, collective.ranks - integer(0, gpus - 1));
  }
  collective.ranks *= takes_ranks(row.algorithm, collective.ranks) ? 1 : 2;
  const auto link = [&](double slowest) {
    const double latency = random.uniform(0, 1e-5);
    return LinkCost{latency, latency * random.uniform(), random.uniform(slowest / 100, slowest),
                    integer(0, 2) == 0 ? random.uniform(0, 1e-5) : 0};
  };
  collective.links.all = link(1e-8);
  collective.links.two_level = TwoLevel{gpus, integer(1, gpus), link(1e-8)};
  std::vector<std::uint32_t> counts(integer(1, 6));
  std::ranges::generate(counts, [&] { return integer(1, gpus); });
  const std::uint32_t sum = std::accumulate(counts.begin(), counts.end(), 0U);
  if (!algorithm(row.algorithm).needs_equal_nodes && takes_ranks(row.algorithm, sum)) {
    collective.ranks = sum;
    collective.links.two_level->gpus_per_node = std::ranges::max(counts);
    collective.links.two_level->ranks_per_node = std::move(counts);
  }
  collective.root = integer(0, collective.ranks - 1);
  collective.bytes = static_cast<double>(random.integer(1, integer(0, 1) == 0 ? 60 : 100'000));
  if (collective.links.two_level->intra.block_latency_s >
      collective.links.two_level->intra.latency_s) {
    collective.links.two_level->intra.block_latency_s = 0;
  }
  collective.reduction_s_per_byte = integer(0, 1) == 0 ? 0 : random.uniform(0, 1e-8);
  collective.options.chunking = integer(0, 1) == 0 ? Chunking::integer : Chunking::real;
  collective.options.reduction_mode =
      integer(0, 1) == 0 ? ReductionMode::serial : ReductionMode::overlapped;
  collective.options.block = Bytes{random.integer(1, 100'000)};
  collective.options.tree = static_cast<TreeShape>(integer(0, 2));
  collective.options.placement = static_cast<Placement>(integer(0, 2));
  collective.options.servers = integer(1, std::min(gpus, collective.ranks));
  for (std::uint32_t rank = 0; row.op == Op::allgatherv && rank < collective.ranks; ++rank) {
    collective.sizes.push_back(static_cast<double>(random.integer(0, 20'000)));
  }
  return collective;
}

TEST_CASE("node bound: the GPUs of a node tell several other nodes at once") {
  Collective collective;
  collective.op = Op::broadcast;
  collective.algorithm = AlgorithmId::mst;
  collective.ranks = 4;
  collective.bytes = 1;
  collective.links.all = {.latency_s = 8e-6, .per_byte_s = 1e-10};
  collective.links.two_level = TwoLevel{.gpus_per_node = 2,
                                        .intra = {.latency_s = 2e-6, .per_byte_s = 1e-11},
                                        .ranks_per_node = {2, 1, 1}};
  CHECK(lower_bound(collective).latency_s == 8e-6);
  CHECK(lower_bound(collective).seconds() <= events(collective).seconds);
}

TEST_CASE("node bound: no evaluator of any operation and algorithm is below it") {
  constexpr std::uint64_t kSeed = 164;
  CAPTURE(kSeed);
  std::size_t nearly = 0; // within 5 % of the bound
  for (const AlgorithmRow& row : algorithm_table()) {
    if (algorithm(row.algorithm).in_switch) { // bounds of their own (node_schedules_test.cpp)
      continue;
    }
    base::RandomStream random({.seed = kSeed,
                               .point = static_cast<std::uint64_t>(row.op),
                               .worker = static_cast<std::uint64_t>(row.algorithm)});
    for (int i = 0; i < 60; ++i) {
      const Collective collective = random_cluster(random, row);
      const double bound = lower_bound(collective).seconds() * (1 - kSlack);
      CAPTURE(i);
      CAPTURE(name(row.op));
      CAPTURE(name(row.algorithm));
      CAPTURE(collective.ranks);
      CAPTURE(collective.links.two_level->gpus_per_node);
      CAPTURE(collective.links.two_level->nics_per_node);
      CAPTURE(collective.bytes);
      const double by_events = events(collective).seconds;
      CHECK(by_events >= bound);
      nearly += by_events <= 1.05 * bound ? 1 : 0;
      if (max_plus_defined(collective)) {
        CHECK(max_plus(collective).seconds >= bound);
      }
      if (collective.homogeneous()) {
        if (const auto form = closed_form(collective)) {
          CHECK(form->seconds >= bound);
        }
      }
    }
  }
  CHECK(nearly > 50); // the bound is worth something
}

} // namespace
} // namespace stepsim::collectives
