// All-to-all (CLU 3.4): what is sent, how long it takes by every evaluator, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/formula/lower_bound.hpp"
#include "collectives/method.hpp"
#include "collectives/nodes.hpp"
#include "collectives/on_fabric.hpp"
#include "collectives/record.hpp"
#include "collectives/schedule/alltoall.hpp"
#include "collectives/validate.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::within;
using test::Shape;

constexpr double kExact = 1e-9;
constexpr std::array kBoth{kPairwise, kPairwisePxn};

Collective alltoall(AlgorithmId algorithm, const Shape& shape, double bytes) {
  return test::on_nodes(Op::alltoall, algorithm, shape, bytes);
}

TEST_CASE("alltoall: times of CLU 16.3") {
  struct Row {
    Shape shape;
    double bytes, pairwise_us, pxn_us;
  };
  for (const Row& row : std::vector<Row>{{{1, 8, 8}, 64000, 14.1867, 14.1867},
                                         {{1, 8, 8}, 1e8, 305.667, 305.667},
                                         {{2, 8, 8}, 64000, 65.28, 23.4667},
                                         {{2, 8, 8}, 1e8, 2064, 2313.67},
                                         {{2, 8, 2}, 64000, 261.12, 27.3067},
                                         {{2, 8, 2}, 1e8, 8256, 8313.67},
                                         {{4, 4, 4}, 64000, 97.92, 32.08},
                                         {{4, 4, 4}, 1e8, 3096, 3280},
                                         {{4, 4, 2}, 64000, 195.84, 34},
                                         {{4, 4, 2}, 1e8, 6192, 6280},
                                         {{3, 4, 1}, 64000, 262.827, 28.9867},
                                         {{3, 4, 1}, 1e8, 10922.7, 10938.7},
                                         {{8, 1, 1}, 64000, 58.24, 58.24},
                                         {{8, 1, 1}, 1e8, 3556, 3556},
                                         {{10, 8, 8}, 64000, 578.304, 88.4907},
                                         {{10, 8, 8}, 1e8, 4176, 3977.67}}) {
    CAPTURE(row.shape.nodes);
    CAPTURE(row.bytes);
    for (const auto& [algorithm, us] :
         {std::pair{kPairwise, row.pairwise_us}, std::pair{kPairwisePxn, row.pxn_us}}) {
      const Collective collective = alltoall(algorithm, row.shape, row.bytes);
      CHECK(closed_form(collective)->seconds == within(us * 1e-6, 1e-5));
      CHECK(max_plus(collective).seconds == within(us * 1e-6, 1e-5));
    }
  }
}

// Seconds of the schedule by both evaluators, and of the formula where it is exact.
void check_evaluators(const Collective& collective) {
  CAPTURE(name(collective.algorithm));
  CAPTURE(collective.ranks);
  CAPTURE(collective.links.two_level->gpus_per_node);
  CAPTURE(collective.links.two_level->nics_per_node);
  CAPTURE(collective.bytes);
  const Evaluation sweep = max_plus(collective);
  const Evaluation run = events(collective);
  CHECK(run.seconds == within(sweep.seconds, kExact));
  CHECK(run.messages == sweep.messages);
  CHECK(traffic(collective).messages == sweep.messages);
  if (automatic_method(collective) == Method::closed_form) {
    CHECK(closed_form(collective)->seconds == within(sweep.seconds, kExact));
  }
}

TEST_CASE("alltoall: formula, sweep and events agree, nodes x GPUs x cards x sizes") {
  std::size_t exact = 0;
  std::size_t points = 0;
  for (const std::uint32_t nodes : {1U, 2U, 3U, 4U, 5U, 8U}) {
    for (const std::uint32_t gpus : {1U, 2U, 4U, 8U}) {
      for (const std::uint32_t cards : {1U, 2U, 4U, 8U}) {
        const double ranks = nodes * gpus;
        for (const double bytes : {0.0, 1.0, ranks - 1, ranks, 1e6 + 1, 64.0 * 1024 * 1024}) {
          for (const AlgorithmId algorithm : kBoth) {
            Collective collective = alltoall(algorithm, {nodes, gpus, cards}, bytes);
            check_evaluators(collective);
            exact += automatic_method(collective) == Method::closed_form ? 1 : 0;
            ++points;
            collective.options.chunking = Chunking::integer;
            if (!static_share_estimates(collective)) {
              check_evaluators(collective);
            }
          }
        }
      }
    }
  }
  CHECK(points == 6 * 4 * 4 * 6 * 2);
  CHECK(exact == points); // every number of cards divides, or is cut to, the GPUs of a node
}

TEST_CASE("alltoall: where cards do not divide the GPUs, the sweep gives the time") {
  for (const Shape& shape :
       {Shape{2, 3, 2}, Shape{3, 5, 3}, Shape{4, 6, 4}, Shape{2, 5, 2}, Shape{5, 7, 3}}) {
    for (const double bytes : {64000.0, 1e8}) {
      const Collective pairwise = alltoall(kPairwise, shape, bytes);
      check_evaluators(pairwise);
      CHECK(!closed_form(pairwise));
      CHECK(automatic_method(pairwise) == Method::max_plus);
      // The busiest card has c (P-G) messages, whatever the order.
      const std::uint32_t c = (shape.gpus + shape.cards - 1) / shape.cards;
      const double P = pairwise.ranks;
      const double busiest = c * (P - shape.gpus) *
                             (test::kAlphaAcross + bytes / P * test::kBetaAcross) * (1 - kExact);
      CHECK(max_plus(pairwise).seconds >= busiest);
      CHECK(max_plus(pairwise).seconds <= 2 * busiest);

      const Collective pxn = alltoall(kPairwisePxn, shape, bytes);
      check_evaluators(pxn);
      CHECK(automatic_method(pxn) == Method::closed_form);
    }
  }
}

TEST_CASE("alltoall: cards are held by one message at a time, in the order of local indices") {
  // Two nodes of two GPUs with one card: ranks 0 and 1 take turns, 4 messages of 8 us + 1 us.
  Collective collective = alltoall(kPairwise, {2, 2, 1}, 4 * 25000);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> of_node;
  double end = 0;
  for (const TransferRecord& transfer : list_transfers(collective, 100)) {
    if (transfer.src < 2 && transfer.dst >= 2) {
      of_node.emplace_back(transfer.src, transfer.dst);
      CHECK(transfer.start_s == within(end, kExact));
      end = transfer.end_s;
    }
  }
  CHECK(of_node ==
        std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 2}, {1, 3}, {0, 3}, {1, 2}});
  CHECK(end == within(4 * 9e-6, kExact));
  // Rank 0 has not entered: its card waits for its first message, and rank 1 behind it.
  collective.enter_s = {1e-3, 0, 0, 0};
  CHECK(max_plus(collective).seconds == within(1e-3 + 4 * 9e-6, kExact));
  CHECK(events(collective).seconds == within(1e-3 + 4 * 9e-6, kExact));
}

TEST_CASE("alltoall: every rank gets its part of every other rank, once") {
  for (const Shape& shape : {Shape{1, 4, 1}, Shape{5, 1, 1}, Shape{3, 4, 2}, Shape{4, 3, 2}}) {
    for (const AlgorithmId algorithm : kBoth) {
      CAPTURE(name(algorithm));
      Collective collective = alltoall(algorithm, shape, 1000 + 3);
      collective.options.chunking = Chunking::integer;
      const std::uint32_t ranks = collective.ranks;
      const Partition parts = Partition::equal(collective.bytes, ranks, collective.options);
      // held[rank]: what the rank has, as (source, destination); it sends what is to go that way.
      using Part = std::pair<std::uint32_t, std::uint32_t>;
      std::vector<std::set<Part>> held(ranks);
      for (std::uint32_t src = 0; src < ranks; ++src) {
        for (std::uint32_t dst = 0; dst < ranks; ++dst) {
          held[src].emplace(src, dst);
        }
      }
      const bool hands_over = algorithm == kPairwisePxn;
      for (const TransferRecord& transfer : list_transfers(collective, 100'000)) {
        double bytes = 0;
        std::vector<Part> moved;
        for (const Part& part : held[transfer.src]) {
          const bool inside = transfer.src / shape.gpus == transfer.dst / shape.gpus;
          const bool goes = hands_over && inside
                                ? part.second % shape.gpus == transfer.dst % shape.gpus &&
                                      part.first == transfer.src
                                : part.second == transfer.dst;
          if (goes) {
            moved.push_back(part);
            bytes += parts.bytes(part.second, 1);
          }
        }
        CHECK(!moved.empty());
        CHECK(bytes == transfer.bytes);
        for (const Part& part : moved) {
          held[transfer.src].erase(part);
          CHECK(held[transfer.dst].insert(part).second);
        }
      }
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        CHECK(held[rank].size() == ranks);
        CHECK(
            std::ranges::all_of(held[rank], [&](const Part& part) { return part.second == rank; }));
      }
    }
  }
}

TEST_CASE("alltoall: what ranks send, without asking step by step") {
  for (const Shape& shape : {Shape{1, 4, 1}, Shape{5, 1, 1}, Shape{3, 4, 2}, Shape{4, 6, 4}}) {
    for (const AlgorithmId algorithm : kBoth) {
      Collective collective = alltoall(algorithm, shape, 1003);
      collective.options.chunking = Chunking::integer;
      std::vector<double> sent(collective.ranks, 0);
      for (const TransferRecord& transfer : list_transfers(collective, 100'000)) {
        sent[transfer.src] += transfer.bytes;
      }
      const std::vector<RankTraffic> counted = traffic_by_rank(collective);
      for (std::size_t rank = 0; rank < sent.size(); ++rank) {
        CHECK(counted[rank].bytes == sent[rank]);
      }
    }
  }
  CHECK(traffic(alltoall(kPairwise, {4, 8, 2}, 1e6)).steps == 4 * (32 - 8));
  CHECK(traffic(alltoall(kPairwisePxn, {4, 8, 2}, 1e6)).steps == 7 + 3);
  CHECK(traffic(alltoall(kPairwise, {100'000, 8, 8}, 8e6)).messages == 800'000ULL * 799'999ULL);
}

TEST_CASE("alltoall: entries, and links of any cost inside and between nodes") {
  constexpr std::uint64_t kSeed = 34;
  CAPTURE(kSeed);
  base::RandomStream random({.seed = kSeed});
  for (int instance = 0; instance < 300; ++instance) {
    const Shape shape{static_cast<std::uint32_t>(random.integer(1, 4)),
                      static_cast<std::uint32_t>(random.integer(1, 5)),
                      static_cast<std::uint32_t>(random.integer(1, 5))};
    Collective collective =
        alltoall(kPairwise, shape, static_cast<double>(random.integer(1, 200'000)));
    collective.options.chunking = instance % 2 == 0 ? Chunking::integer : Chunking::real;
    for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
      collective.enter_s.push_back(random.uniform(0, 1e-4));
    }
    // Pairs with a link of their own.
    for (std::uint32_t src = 0; src < collective.ranks; ++src) {
      for (std::uint32_t dst = 0; dst < collective.ranks; ++dst) {
        if (src != dst && random.integer(0, 3) == 0) {
          const double latency = random.uniform(0, 1e-5);
          collective.links.pairs.push_back({src, dst, {latency, latency, random.uniform(0, 1e-9)}});
        }
      }
    }
    if (instance % 3 == 0) {
      collective.algorithm = kPairwisePxn;
      collective.links.two_level->nics_per_node = shape.gpus; // else a share is only estimated
    }
    const Evaluation sweep = max_plus(collective, true);
    const Evaluation run = events(collective, true);
    CAPTURE(instance);
    CHECK(run.seconds == within(sweep.seconds, kExact));
    CHECK(sweep.seconds >= lower_bound(collective).seconds() * (1 - kExact));
    for (std::size_t rank = 0; rank < collective.ranks; ++rank) {
      CHECK(run.ranks.finish_s[rank] == within(sweep.ranks.finish_s[rank], kExact));
      CHECK(run.ranks.transfer_s[rank] == within(sweep.ranks.transfer_s[rank], 1e-6));
    }
  }
}

TEST_CASE("alltoall: one rank a node is P-1 messages of n/P, with and without two levels") {
  for (const AlgorithmId algorithm : kBoth) {
    for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 13U, 16U}) {
      Collective collective = alltoall(algorithm, {ranks, 1, 1}, 1e6);
      const double expected =
          (ranks - 1.0) * (test::kAlphaAcross + 1e6 / ranks * test::kBetaAcross);
      for (int levels = 2; levels > 0; --levels) {
        CHECK(closed_form(collective)->seconds == within(expected, kExact));
        CHECK(max_plus(collective).seconds == within(expected, kExact));
        CHECK(events(collective).seconds == within(expected, kExact));
        collective.links.two_level.reset();
      }
    }
  }
}

TEST_CASE("alltoall: the delay of a link is waited for once per level") {
  for (const Shape& shape : {Shape{1, 4, 1}, Shape{5, 1, 1}, Shape{3, 4, 2}, Shape{2, 2, 2}}) {
    for (const double delay : {1e-7, 1e-4}) {
      for (const AlgorithmId algorithm : kBoth) {
        Collective collective = alltoall(algorithm, shape, 1e6);
        collective.links.all.delay_s = delay;
        collective.links.two_level->intra.delay_s = 3 * delay;
        check_evaluators(collective);
        CHECK(automatic_method(collective) == Method::closed_form);
        CHECK(closed_form(collective)->seconds >= lower_bound(collective).seconds());
      }
    }
  }
}

TEST_CASE("alltoall: more cards never make it slower") {
  for (const AlgorithmId algorithm : kBoth) {
    for (const double bytes : {1000.0, 64000.0, 1e8}) {
      double before = 1e9;
      for (const std::uint32_t cards : {1U, 2U, 4U, 8U}) {
        const double now = max_plus(alltoall(algorithm, {4, 8, cards}, bytes)).seconds;
        CHECK(now <= before * (1 + kExact));
        before = now;
      }
    }
  }
}

TEST_CASE("alltoall: auto takes pxn for small messages and pairwise for large ones") {
  Collective collective = alltoall(AlgorithmId::automatic, {2, 8, 8}, 64000);
  CHECK(candidates_of(collective) == std::vector<AlgorithmId>{kPairwise, kPairwisePxn});
  CHECK(choose_algorithm(collective).chosen == kPairwisePxn);
  CHECK(choose_algorithm(collective).chosen_s == within(23.4667e-6, 1e-5));
  collective.bytes = 1e8;
  CHECK(choose_algorithm(collective).chosen == kPairwise);
  CHECK(choose_algorithm(collective).runner_up == kPairwisePxn);
}

TEST_CASE("alltoall: bandwidths count the send buffer of one rank, of which n/P stays") {
  const CollectiveRecord record =
      make_record(alltoall(kPairwise, {2, 8, 8}, 1e8), AskedMethod::all);
  CHECK(record.seconds == within(2064e-6, kExact));
  CHECK(*record.relative_difference < kExact);
  CHECK(*record.algbw_Bps == within(1e8 / 2064e-6, kExact));
  CHECK(*record.busbw_Bps == within(1e8 * 15 / 16 / 2064e-6, kExact));
  CHECK(record.traffic.max_per_rank == within(1e8 * 15 / 16, kExact));
  CHECK(record.warnings.empty());
}

TEST_CASE("alltoall: the cables of a fabric are what ranks share") {
  // A star of 4 hosts with a rank each: 3 messages of n/4 over two links.
  const links::LinkSpeed link{1e-6, 2.5e10};
  const Collective flat =
      test::on_fabric(alltoall(kPairwise, {4, 1, 1}, 4e6), links::star(4, link), {0, 1, 2, 3});
  CHECK(automatic_method(flat) == Method::events);
  CHECK(events(flat).seconds == within(3 * (2e-6 + 1e6 / 2.5e10), 1e-8));
  // Two ranks on each of two hosts, which share its cable: 2 messages of n/4 each at half the rate.
  Collective shared =
      test::on_fabric(alltoall(kPairwise, {2, 2, 1}, 4e6), links::star(2, link), {0, 0, 1, 1});
  CHECK(events(shared).seconds == within(2 * (2e-6 + 2 * 1e6 / 2.5e10), 1e-8));
  shared.algorithm = kPairwisePxn; // G x = 2 MB per rank after 2 MB inside the host
  CHECK(events(shared).seconds ==
        within(test::kAlphaInside + 2e6 * test::kBetaInside + 2e-6 + 2 * 2e6 / 2.5e10, 1e-8));
}

TEST_CASE("alltoall: what does not fit is refused in words") {
  const auto finding = [](const Collective& collective) {
    const auto findings = validate(collective);
    REQUIRE(findings.size() == 1);
    return findings.front().what + ": " + findings.front().message;
  };
  Collective collective = alltoall(kPairwise, {2, 4, 4}, 1e6);
  CHECK(validate(collective).empty());
  collective.algorithm = AlgorithmId::ring;
  CHECK(finding(collective) ==
        "algorithm: ring is not defined for alltoall; valid: pairwise, pairwise_pxn");
  collective = alltoall(AlgorithmId::automatic, {2, 4, 4}, 1e6);
  collective.ranks = 10;
  CHECK(finding(collective) == "gpus_per_node: 10 ranks are no multiple of 4 per node");
  collective.algorithm = kPairwisePxn;
  CHECK(finding(collective) == "gpus_per_node: 10 ranks are no multiple of 4 per node");
  CHECK_THROWS_WITH_AS((void)make_schedule(collective),
                       "pairwise_pxn needs equal ranks per node, got 10 ranks in nodes of 4",
                       SimulationError);
  collective.op = Op::allreduce;
  CHECK_THROWS_WITH_AS((void)make_schedule(collective), "allreduce has no algorithm pairwise_pxn",
                       SimulationError);
}

} // namespace
} // namespace stepsim::collectives
