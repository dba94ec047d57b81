// Messages on a fabric: what planners see of them, and what their links carry.
#include "programs/step/exchange_times.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/method.hpp"
#include "collectives/on_fabric.hpp"
#include "collectives/point.hpp"
#include "collectives/schedule/swing.hpp"
#include "collectives/validate.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::programs {
namespace {

using collectives::test::hosts_in_order;
using collectives::test::on_fabric;
using collectives::test::point;
using stepsim::testing::within;
using Id = collectives::AlgorithmId;

constexpr links::LinkSpeed kLink{2.5e-6, 1.25e9};
constexpr double kExact = 1e-9;

collectives::Collective on_star(Id algorithm, std::uint32_t ranks) {
  return on_fabric(point(collectives::Op::allreduce, algorithm, ranks, 0, {}),
                   links::star(ranks, kLink), hosts_in_order(ranks));
}

TEST_CASE("exchange: planners see the line of a ring on a star at every size") {
  const buckets::Cost cost = planner_cost(on_star(Id::ring, 8));
  const collectives::ClosedForm form =
      *collectives::closed_form(point(collectives::Op::allreduce, Id::ring, 8, 1,
                                      {2 * kLink.latency_s, 1 / kLink.bandwidth_Bps, 0}));
  for (const double bytes : {1.0, 1000.0, 1024.0, 1500.0, 2048.0, 1e6, 123456789.0, 5e9}) {
    CAPTURE(bytes);
    CHECK(cost.seconds(bytes, 1) == within(*form.startup_s + *form.per_byte_s * bytes, 1e-8));
  }
  CHECK(cost.seconds(0, 1) == 0);
}

TEST_CASE("exchange: a message that cannot be evaluated has no time when it is asked again") {
  collectives::Collective collective =
      point(collectives::Op::allreduce, Id::ring, 4, 0, {1e-6, 1e-9, 0});
  collective.links.pairs_only = true;
  collective.links.pairs = {{0, 1, {1e-6, 1e-6, 1e-9}}}; // the others have no link
  ExchangeTimes times(collective, collectives::Method::max_plus, std::nullopt);
  for (int i = 0; i < 3; ++i) {
    CHECK_THROWS_AS((void)times(Bytes{1000}), SimulationError);
    CHECK_THROWS_AS((void)times.seconds(Bytes{2000}), SimulationError);
  }
}

TEST_CASE("exchange: the curve is exact at powers of two, never falls and stays positive") {
  const links::Fabric fabric = links::leaf_spine({4, 4, 2, kLink, kLink});
  for (const Id algorithm : {Id::automatic, Id::recursive_doubling, Id::lp}) {
    CAPTURE(int(algorithm));
    const collectives::Collective collective = on_fabric(
        point(collectives::Op::allreduce, algorithm, 8, 0, {}), fabric, {0, 4, 8, 12, 1, 5, 9, 13});
    const buckets::Cost cost = planner_cost(collective);
    double last = 0;
    for (double bytes = 1; bytes < 1e8; bytes *= 1.3) {
      const double seconds = cost.seconds(bytes, 1);
      CHECK(seconds > 0);
      CHECK(seconds >= last);
      last = seconds;
    }
    for (const double bytes : {1024.0, 65536.0, 1048576.0 * 64}) {
      collectives::Collective one = collective;
      one.bytes = bytes;
      CHECK(cost.seconds(bytes, 1) ==
            within(collectives::seconds(one, collectives::Method::events), kExact));
    }
  }
}

TEST_CASE("exchange: only the sizes around those that are asked for are sampled, once") {
  std::vector<double> sampled;
  const buckets::Cost cost = sampled_cost([&](double bytes) {
    sampled.push_back(bytes);
    return 1e-6 + 1e-9 * bytes;
  });
  CHECK(sampled.empty());
  CHECK(cost.seconds(3e6, 1) == within(1e-6 + 1e-9 * 3e6, 1e-12));
  CHECK(cost.seconds(3.5e6, 1) == within(1e-6 + 1e-9 * 3.5e6, 1e-12));
  CHECK(cost.seconds(65536, 1) == within(1e-6 + 1e-9 * 65536, 1e-12));
  CHECK(cost.seconds(0, 1) == 0);
  std::ranges::sort(sampled);
  CHECK(sampled == std::vector<double>{65536, 1 << 21, 1 << 22});
}

TEST_CASE(
    "exchange: a choice among algorithms between nodes is sampled, and exact at the samples") {
  collectives::Collective collective =
      point(collectives::Op::allreduce, Id::automatic, 16, 0, {6.1e-6, 1 / 1.2e10, 0});
  collective.links.two_level = collectives::TwoLevel{8, 1, {1e-6, 1e-6, 1 / 3e11}};
  const buckets::Cost cost = planner_cost(collective);
  for (const double bytes : {1024.0, 65536.0, 1048576.0}) {
    CAPTURE(bytes);
    collectives::Collective one = collective;
    one.bytes = bytes;
    one.options.chunking = collectives::Chunking::real;
    one = collectives::with_chosen_algorithm(one);
    CHECK(cost.seconds(bytes, 1) == within(collectives::max_plus(one).seconds, kExact));
    CHECK(cost.seconds(1.5 * bytes, 1) == // on the line between two samples
          within((cost.seconds(bytes, 1) + cost.seconds(2 * bytes, 1)) / 2, kExact));
  }
}

TEST_CASE("exchange: where the closed form is an upper bound, planners see what the run takes") {
  base::RandomStream random({.seed = 71});
  for (const Id algorithm : {Id::recursive_doubling, Id::mst, Id::be, Id::ring}) {
    for (const std::uint32_t ranks : {3U, 5U, 6U, 7U, 8U, 12U}) {
      CAPTURE(int(algorithm));
      CAPTURE(ranks);
      const collectives::Collective collective = point(collectives::Op::allreduce, algorithm, ranks,
                                                       0, {5e-5, 8e-10, random.uniform(0, 4e-9)});
      const buckets::Cost cost = merge_cost(collective, std::nullopt);
      for (int trial = 0; trial < 50; ++trial) {
        collectives::Collective one = collective;
        one.options.chunking = collectives::Chunking::real;
        one.bytes = static_cast<double>(random.integer(1, 10'000'000));
        CAPTURE(one.bytes);
        CHECK(cost.seconds(one.bytes, 1) == within(collectives::max_plus(one).seconds, kExact));
        CHECK(cost.seconds(one.bytes, 1) <=
              planner_cost(collective).seconds(one.bytes, 1) * (1 + kExact));
      }
      CHECK(cost.seconds(0, 1) == 0);
      // A run by the formula takes the formula.
      CHECK(merge_cost(collective, collectives::Method::closed_form).is_linear());
    }
  }
}

TEST_CASE("exchange: between nodes planners see what flat schedules take at every size") {
  base::RandomStream random({.seed = 72});
  for (const Id algorithm :
       {Id::ring, Id::recursive_doubling, Id::be, Id::bruck, collectives::kSwing, Id::mst}) {
    for (int network = 0; network < 12; ++network) {
      const auto gpus = static_cast<std::uint32_t>(random.integer(2, 8));
      const auto nodes = static_cast<std::uint32_t>(random.integer(2, 5));
      const auto cards = static_cast<std::uint32_t>(random.integer(1, gpus));
      collectives::Collective collective =
          point(collectives::Op::allreduce, algorithm, nodes * gpus, 0,
                {random.uniform(0, 5e-5), random.uniform(1e-11, 1e-9), random.uniform(0, 1e-9)});
      collective.links.two_level = collectives::TwoLevel{
          gpus, cards, {random.uniform(0, 1e-5), 0, random.uniform(1e-12, 1e-9)}};
      collective.options.chunking = collectives::Chunking::real;
      if (!collectives::validate(collective).empty()) {
        continue; // a power of two of ranks only
      }
      CAPTURE(int(algorithm));
      CAPTURE(nodes);
      CAPTURE(gpus);
      CAPTURE(cards);
      const buckets::Cost cost = planner_cost(collective);
      for (int trial = 0; trial < 25; ++trial) {
        collective.bytes = std::floor(std::pow(10, random.uniform(0, 9)));
        CAPTURE(collective.bytes);
        CHECK(cost.seconds(collective.bytes, 1) ==
              within(collectives::max_plus(collective).seconds, 1e-12));
      }
    }
  }
}

TEST_CASE("exchange: without latency next to nothing takes next to nothing") {
  const collectives::Collective ring =
      on_fabric(point(collectives::Op::allreduce, Id::ring, 4, 0, {}), links::star(4, {0, 1e9}),
                hosts_in_order(4));
  const buckets::Cost cost = planner_cost(ring);
  for (const double bytes : {1e-3, 1.0, 10.0}) {
    CHECK(cost.seconds(bytes, 1) == within(1.5 * bytes / 1e9, 1e-9));
  }
}

TEST_CASE("exchange: a message on a fabric goes by events and says what its links carry") {
  ExchangeTimes times(on_star(Id::ring, 4), std::nullopt, std::nullopt);
  const Exchange& message = times(Bytes{4'000'000});
  CHECK(times.method() == collectives::Method::events);
  CHECK(message.seconds == within(6 * (2 * kLink.latency_s + 1e6 / kLink.bandwidth_Bps), kExact));
  REQUIRE(message.links.size() == 2 * 4);
  for (const links::LinkUse& use : message.links) {
    CHECK(use.bytes == within(6e6, kExact));
    CHECK(use.busy_s == within(6e6 / kLink.bandwidth_Bps, kExact));
  }
  ExchangeTimes plain(point(collectives::Op::allreduce, Id::ring, 4, 0, {1e-6, 1e-9, 0}),
                      std::nullopt, std::nullopt);
  CHECK(plain(Bytes{4'000'000}).links.empty());
}

} // namespace
} // namespace stepsim::programs
