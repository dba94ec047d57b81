#include "collectives/evaluate/evaluation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/schedule/schedule.hpp"
#include "collectives/schedule/swing.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::collectives;
using stepsim::testing::within;

namespace {

// Asks every rank for every step of every phase.
std::vector<RankTraffic> counted_step_by_step(const Collective& collective) {
  const Schedule schedule = make_schedule(collective);
  std::vector<RankTraffic> ranks(collective.ranks);
  for (const Phase& phase : schedule.phases) {
    for (Index group = 0; group < phase.layout.groups; ++group) {
      for (Index local = 0; local < phase.layout.size; ++local) {
        RankTraffic& rank = ranks[static_cast<std::size_t>(phase.layout.rank(group, local))];
        for (Index step = 0; step < phase.steps(); ++step) {
          const Send send =
              std::visit([&](const auto& rule) { return rule.send(step, local); }, phase.rule);
          if (send.peer != kNobody) {
            rank.bytes += phase.partition.bytes(send.first, send.count);
            ++rank.messages;
          }
        }
      }
    }
  }
  return ranks;
}

void check_equal(const Collective& collective) {
  CAPTURE(collective.ranks);
  CAPTURE(collective.bytes);
  const std::vector<RankTraffic> quick = traffic_by_rank(collective);
  const std::vector<RankTraffic> slow = counted_step_by_step(collective);
  REQUIRE(quick.size() == slow.size());
  for (std::size_t rank = 0; rank < quick.size(); ++rank) {
    CAPTURE(rank);
    CHECK(quick[rank].bytes == within(slow[rank].bytes, 1e-12));
    CHECK(quick[rank].messages == slow[rank].messages);
  }
  const auto [least, most] = std::ranges::minmax(slow, {}, &RankTraffic::bytes);
  const Traffic all = traffic(collective);
  CHECK(all.min_per_rank == within(least.bytes, 1e-12));
  CHECK(all.max_per_rank == within(most.bytes, 1e-12));
  CHECK(most_sent(collective) == all.max_per_rank);
  const RankTraffic sum = std::accumulate(
      slow.begin(), slow.end(), RankTraffic{}, [](const RankTraffic& a, const RankTraffic& b) {
        return RankTraffic{a.bytes + b.bytes, a.messages + b.messages};
      });
  CHECK(all.total == within(sum.bytes, 1e-12));
  CHECK(all.messages == sum.messages);
}

} // namespace

TEST_CASE("traffic: pipelines are counted without their steps") {
  std::mt19937_64 random(7);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int trial = 0; trial < 400; ++trial) {
    Collective collective;
    collective.algorithm = trial % 2 == 0 ? AlgorithmId::lp : AlgorithmId::double_binary_tree;
    const std::vector<Op> ops{Op::allreduce, Op::broadcast, Op::reduce};
    collective.op = trial % 2 == 0 ? ops[static_cast<std::size_t>(draw(0, 2))] : Op::allreduce;
    collective.ranks = static_cast<std::uint32_t>(draw(2, 19));
    collective.bytes = static_cast<double>(4 * draw(1, 300));
    collective.root = collective.op == Op::allreduce
                          ? 0
                          : static_cast<std::uint32_t>(draw(0, collective.ranks - 1));
    collective.options.block = stepsim::Bytes{4 * draw(1, 200)};
    collective.options.lp_last_hop = draw(0, 1) == 1;
    collective.options.chunking = draw(0, 1) == 1 ? Chunking::real : Chunking::integer;
    CAPTURE(trial);
    check_equal(collective);
  }
}

TEST_CASE("traffic: flat trees are counted without their steps") {
  for (const AlgorithmId id : {AlgorithmId::mst, AlgorithmId::be}) {
    for (const Op op : {Op::broadcast, Op::reduce, Op::allreduce}) {
      for (const std::uint32_t ranks : {2U, 3U, 8U, 13U}) {
        Collective collective;
        collective.op = op;
        collective.algorithm = id;
        collective.ranks = ranks;
        collective.bytes = 1000;
        collective.options.tree = TreeShape::flat;
        check_equal(collective);
      }
    }
  }
}

TEST_CASE("traffic: where ranks are alike, one of them stands for all") {
  for (const Op op : {Op::reduce_scatter, Op::allgather, Op::allreduce}) {
    for (const AlgorithmId id : valid_algorithms(op)) {
      if (!has_transfers(id) || is_two_level(id) || algorithm(id).block_streams > 0) {
        continue;
      }
      CAPTURE(name(id));
      for (const std::uint32_t ranks : {2U, 6U, 8U, 12U, 16U, 22U, 32U}) {
        for (const Chunking chunking : {Chunking::integer, Chunking::real}) {
          for (const double elements : {1.0 * ranks, 5.0 * ranks, 3.0 * ranks + 1}) {
            Collective collective;
            collective.algorithm = id;
            collective.op = op;
            collective.ranks = ranks;
            collective.bytes = 4 * elements;
            collective.options.chunking = chunking;
            check_equal(collective);
          }
        }
      }
    }
  }
}

TEST_CASE("traffic: owners of the first and last parts of either size send least and most") {
  for (std::uint32_t ranks = 2; ranks <= 70; ++ranks) {
    for (const Op op : {Op::reduce_scatter, Op::allgather, Op::allreduce}) {
      for (const AlgorithmId id : valid_algorithms(op)) {
        if (!has_transfers(id) || is_two_level(id) || algorithm(id).block_streams > 0 ||
            !takes_ranks(id, ranks)) {
          continue;
        }
        CAPTURE(name(id));
        for (std::uint32_t large = 0; large < ranks; large += 1 + ranks / 16) {
          Collective collective;
          collective.algorithm = id;
          collective.op = op;
          collective.ranks = ranks;
          collective.bytes = 4.0 * (2 * ranks + large);
          collective.root = op == Op::allreduce ? ranks / 3 : 0;
          check_equal(collective);
        }
      }
    }
  }
}

TEST_CASE("owner: a swing of a power of two hands every part to its rank") {
  for (const std::uint32_t ranks : {2U, 4U, 8U, 64U, 1024U}) {
    Collective collective;
    collective.algorithm = kSwing;
    collective.ranks = ranks;
    collective.bytes = 4;
    const Rule rule = make_schedule(collective).phases.front().rule;
    for (Index part = 0; part < ranks; ++part) {
      CHECK(swing_part(ranks, owner(rule, part).value()) == part);
    }
  }
}
