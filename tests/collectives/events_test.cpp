// Events against the sweep are in tests/oracle/collective_product_test.cpp; here is what only
// events have: blocked schedules, contention, entry times of several servers, transfer times.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/evaluate/event_run.hpp"
#include "collectives/evaluate/few_ranks.hpp"
#include "collectives/evaluate/server_flows.hpp"
#include "collectives/point.hpp"
#include "links/network_model.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::within;
using test::point;
using Id = AlgorithmId;

constexpr double kExact = 1e-9;

TEST_CASE("events: a schedule that cannot go on names what is blocked") {
  const Collective collective = point(Op::broadcast, Id::lp, 3, 1, {1, 1, 0});
  // Ranks 1 and 2 disagree with rank 0 on who is where in the chain.
  Layout layout{.size = 3, .modulus = 3};
  layout.order = {0, 1, 2};
  layout.inverse = {0, 2, 1};
  Schedule schedule{3, {}};
  schedule.phases.push_back({layout, Chain{3, 1, false}, Partition::blocks({1, 0}, 1)});
  const EqualLinks links{{1, 1, 1}};
  EventRun run(collective, schedule, links, links::AlphaBeta(), false);
  CHECK_THROWS_WITH_AS((void)run.run(),
                       "the collective is blocked at 3 ranks: 0 -> 1 in step 0 (pipeline "
                       "broadcast); 1 -> 1 in step 1 (pipeline broadcast); 2 -> 2 in step 1 "
                       "(pipeline broadcast)",
                       SimulationError);
}

TEST_CASE("events: listed transfers have the times of the events") {
  for (const Id algorithm : {Id::ring, Id::recursive_doubling, Id::lp, Id::hierarchical}) {
    Collective collective = point(Op::allreduce, algorithm, 8, 1e6 + 3, {1e-5, 1e-9, 0});
    collective.links.two_level =
        TwoLevel{.gpus_per_node = 4, .nics_per_node = 1, .intra = {1e-6, 1e-6, 1e-11}};
    collective.enter_s = {0, 1e-4, 0, 2e-4, 0, 0, 3e-4, 0};
    const std::vector<TransferRecord> timed = list_transfers(collective, 1'000'000, true);
    const std::vector<TransferRecord> swept = list_transfers(collective, 1'000'000);
    REQUIRE(timed.size() == swept.size());
    double last = 0;
    std::vector<double> free(8); // of the send port
    for (std::size_t i = 0; i < timed.size(); ++i) {
      CHECK(std::tuple(timed[i].step, timed[i].src, timed[i].dst, timed[i].bytes) ==
            std::tuple(swept[i].step, swept[i].src, swept[i].dst, swept[i].bytes));
      CHECK(timed[i].start_s >= free[timed[i].src]);
      free[timed[i].src] = timed[i].end_s;
      last = std::max(last, timed[i].end_s);
    }
    CHECK(last == within(events(collective).seconds, kExact));
  }
}

TEST_CASE("events: one event per transfer, entry and addition") {
  Collective collective = point(Op::allreduce, Id::ring, 8, 800, {1, 1, 0});
  Evaluation run = events(collective);
  CHECK(run.messages == 8 * 2 * (8 - 1));
  CHECK(run.events == run.messages + 8);
  collective.reduction_s_per_byte = 0.1;
  run = events(collective);
  CHECK(run.events == run.messages + 8 + 8 * (8 - 1));
}

TEST_CASE(
    "events: a schedule whose transfers are only counted gives the bits of one that is watched") {
  constexpr std::uint64_t kSeed = 71;
  base::RandomStream random({.seed = kSeed});
  for (const Op op :
       {Op::allreduce, Op::broadcast, Op::reduce, Op::reduce_scatter, Op::allgather}) {
    for (const AlgorithmId algorithm : valid_algorithms(op)) {
      for (int round = 0; round < 8; ++round) {
        const auto ranks = static_cast<std::uint32_t>(random.integer(1, 20));
        if (algorithm == Id::parameter_server || !takes_ranks(algorithm, ranks) ||
            stepsim::collectives::test::in_switch(algorithm)) {
          continue;
        }
        Collective collective =
            point(op, algorithm, ranks, static_cast<double>(random.integer(0, 300)),
                  {random.uniform(), random.uniform(), 0});
        for (std::uint32_t rank = 0; round % 2 == 0 && rank < ranks; ++rank) {
          collective.enter_s.push_back(random.uniform(0, 100));
        }
        CAPTURE(kSeed);
        CAPTURE(name(algorithm));
        CAPTURE(ranks);
        const Evaluation counted = events(collective, false, false);
        const Evaluation watched = events(collective, true);
        CHECK(counted.events == watched.events);
        CHECK(counted.messages == watched.messages);
        CHECK(counted.ranks.finish_s == watched.ranks.finish_s);
      }
    }
  }
}

// The test must not be of other rings alone: most of these take the shortcut.
TEST_CASE("events: a ring of equal ranks gives the times of playing every rank") {
  stepsim::base::RandomStream random({.seed = 72});
  int taken = 0;
  for (int round = 0; round < 600; ++round) {
    const Op op = std::array{Op::allreduce, Op::reduce_scatter,
                             Op::allgather}[static_cast<std::size_t>(random.integer(0, 2))];
    const auto ranks = static_cast<std::uint32_t>(random.integer(2, 24));
    Collective collective =
        point(op, Id::ring, ranks, 4.0 * ranks * static_cast<double>(random.integer(1, 300)),
              {random.uniform(), random.uniform(), round % 3 == 0 ? 0 : 2 * random.uniform()});
    collective.options.reduction_mode =
        random.integer(0, 1) == 0 ? ReductionMode::serial : ReductionMode::overlapped;
    if (random.integer(0, 1) == 0) {
      collective.enter_s.assign(ranks, random.uniform(0, 100));
    }
    if (random.integer(0, 3) == 0) {
      collective.bytes += 4;
    }
    CAPTURE(round);
    CAPTURE(name(op));
    CAPTURE(ranks);
    const Evaluation quick = events(collective);
    const Evaluation played = events(collective, false, false);
    taken += equal_ring(collective) ? 1 : 0;
    constexpr double kSame = 1e-12; // the rounding of sums in another order
    CHECK(quick.seconds == within(played.seconds, kSame));
    CHECK(quick.events == played.events);
    CHECK(quick.messages == played.messages);
    REQUIRE(quick.ranks.finish_s.size() == played.ranks.finish_s.size());
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      CHECK(quick.ranks.finish_s[rank] == within(played.ranks.finish_s[rank], kSame));
    }
  }
  CHECK(taken > 300);
}

TEST_CASE("events: nothing to do takes until the last rank has entered") {
  Collective collective = point(Op::allreduce, Id::ring, 3, 0, {1, 1, 0});
  collective.enter_s = {1, 5, 2};
  CHECK(events(collective).seconds == 5);
  CHECK(max_plus(collective).seconds == 5);
  CHECK(events(collective).messages == 0);
  CHECK(events(point(Op::allreduce, Id::mst, 1, 100, {1, 1, 0})).seconds == 0);
}

// Two nodes of two ranks with one interface each; every rank exchanges 4 B with the other node.
TEST_CASE("events: flows through one interface halve each other's rate, also when out of step") {
  Collective collective = point(Op::allreduce, Id::recursive_doubling, 4, 4, {0, 1, 0});
  collective.links.two_level = TwoLevel{2, 1, {0, 0, 0}};
  CHECK(events(collective).seconds == within(2 * 4, kExact));
  // Ranks 1 and 3 start 2 s late, which delays the exchange inside the nodes and so everybody.
  collective.enter_s = {0, 2, 0, 2};
  CHECK(events(collective).seconds == within(2 + 2 * 4, kExact));
  // A flat tree broadcast: 0 -> 1 inside, then 0 -> 2 and 1 -> 3 together through one interface.
  Collective tree = point(Op::broadcast, Id::mst, 4, 4, {0, 1, 0});
  tree.links.two_level = TwoLevel{2, 1, {0, 0, 1}};
  CHECK(events(tree).seconds == within(4 + 2 * 4, kExact));
  // Rank 3 enters at 10: until then 0 -> 2 has the interface alone, 4 to 8.
  tree.enter_s = {0, 0, 0, 10};
  const auto finish = events(tree).ranks.finish_s;
  CHECK(finish[2] == within(4 + 4, kExact));
  CHECK(finish[3] == within(10 + 4, kExact));
  // Rank 3 enters at 6: 0 -> 2 has 2 B left then, at half rate until 10; 1 -> 3 has 2 B left then.
  tree.enter_s = {0, 0, 0, 6};
  const auto later = events(tree).ranks.finish_s;
  CHECK(later[2] == within(6 + 2 * 2, kExact));
  CHECK(later[3] == within(6 + 2 * 2 + 2, kExact));
}

TEST_CASE("events: several parameter servers with late workers end no earlier than one late worker "
          "needs and no later than if all were late") {
  Collective collective = point(Op::allreduce, Id::parameter_server, 4, 1200, {1, 1, 0.25});
  collective.options.servers = 2;
  CHECK_FALSE(max_plus_defined(collective));
  CHECK_THROWS_AS((void)max_plus(collective), SimulationError);
  const double together = events(collective).seconds;
  // Two servers of 600 B each: 1 + 4/2 n + 4/2 n gamma + 1 + 4/2 n.
  CHECK(together == within(1 + 2400 + 2400 * 0.25 + 1 + 2400, kExact));
  collective.enter_s = {0, 0, 0, 5000};
  // The late push finds both ports free: 5000 + 1 + 2 * 600 at the worker's own rate.
  CHECK(events(collective).seconds == within(5000 + 1 + 1200 + 2400 * 0.25 + 1 + 2400, kExact));
}

TEST_CASE("events: busy time per rank is what the sweep finds") {
  constexpr std::uint64_t kSeed = 4;
  base::RandomStream random({.seed = kSeed});
  for (int round = 0; round < 150; ++round) {
    CAPTURE(kSeed);
    CAPTURE(round);
    const auto ranks = static_cast<std::uint32_t>(random.integer(1, 12));
    const Op op = round % 2 == 0 ? Op::allreduce : Op::reduce;
    const std::vector<AlgorithmId> algorithms = valid_algorithms(op);
    const AlgorithmId algorithm = algorithms[static_cast<std::size_t>(
        random.integer(0, static_cast<std::int64_t>(algorithms.size()) - 1))];
    if (algorithm == Id::parameter_server || !takes_ranks(algorithm, ranks) ||
        stepsim::collectives::test::in_switch(algorithm)) {
      continue;
    }
    Collective collective = point(op, algorithm, ranks, static_cast<double>(random.integer(0, 300)),
                                  {random.uniform(), random.uniform(), random.uniform()});
    collective.options.block = Bytes{16};
    collective.options.reduction_mode =
        round % 3 == 0 ? ReductionMode::serial : ReductionMode::overlapped;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      collective.enter_s.push_back(random.uniform(0, 100));
    }
    const Evaluation sweep = max_plus(collective, true);
    const Evaluation run = events(collective, true);
    REQUIRE(run.ranks.transfer_s.size() == ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const double busy = run.ranks.transfer_s[rank];
      CHECK(busy == within(sweep.ranks.transfer_s[rank], kExact));
      const double finish = run.ranks.finish_s[rank];
      CHECK(busy <= finish - collective.enter_s[rank] + 1e-12 * finish);
    }
  }
}

} // namespace
} // namespace stepsim::collectives
