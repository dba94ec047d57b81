// Messages on a fabric: what planners see of them, and what their links carry.
#include "train/step/exchange_times.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "coll/choose.hpp"
#include "coll/evaluate/max_plus.hpp"
#include "coll/formula/closed_form.hpp"
#include "coll/method.hpp"
#include "coll/on_fabric.hpp"
#include "coll/point.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::train {
namespace {

using coll::test::hosts_in_order;
using coll::test::on_fabric;
using coll::test::point;
using stepsim::testing::within;
using Id = coll::AlgorithmId;

constexpr net::LinkSpeed kLink{2.5e-6, 1.25e9};
constexpr double kExact = 1e-9;

coll::Collective on_star(Id algorithm, std::uint32_t ranks) {
  return on_fabric(point(coll::Op::allreduce, algorithm, ranks, 0, {}), net::star(ranks, kLink),
                   hosts_in_order(ranks));
}

TEST_CASE("exchange: planners see the line of a ring on a star at every size") {
  const plan::Cost cost = planner_cost(on_star(Id::ring, 8));
  const coll::ClosedForm form = *coll::closed_form(point(
      coll::Op::allreduce, Id::ring, 8, 1, {2 * kLink.latency_s, 1 / kLink.bandwidth_Bps, 0}));
  for (const double bytes : {1.0, 1000.0, 1024.0, 1500.0, 2048.0, 1e6, 123456789.0, 5e9}) {
    CAPTURE(bytes);
    CHECK(cost.seconds(bytes, 1) == within(*form.startup_s + *form.per_byte_s * bytes, 1e-8));
  }
  CHECK(cost.seconds(0, 1) == 0);
}

TEST_CASE("exchange: a message that cannot be evaluated has no time when it is asked again") {
  coll::Collective collective = point(coll::Op::allreduce, Id::ring, 4, 0, {1e-6, 1e-9, 0});
  collective.links.pairs_only = true;
  collective.links.pairs = {{0, 1, {1e-6, 1e-6, 1e-9}}}; // the others have no link
  ExchangeTimes times(collective, coll::Method::max_plus, std::nullopt);
  for (int i = 0; i < 3; ++i) {
    CHECK_THROWS_AS((void)times(Bytes{1000}), SimulationError);
    CHECK_THROWS_AS((void)times.seconds(Bytes{2000}), SimulationError);
  }
}

TEST_CASE("exchange: the curve is exact at powers of two, never falls and stays positive") {
  const net::Fabric fabric = net::leaf_spine({4, 4, 2, kLink, kLink});
  for (const Id algorithm : {Id::automatic, Id::recursive_doubling, Id::lp}) {
    CAPTURE(int(algorithm));
    const coll::Collective collective = on_fabric(point(coll::Op::allreduce, algorithm, 8, 0, {}),
                                                  fabric, {0, 4, 8, 12, 1, 5, 9, 13});
    const plan::Cost cost = planner_cost(collective);
    double last = 0;
    for (double bytes = 1; bytes < 1e8; bytes *= 1.3) {
      const double seconds = cost.seconds(bytes, 1);
      CHECK(seconds > 0);
      CHECK(seconds >= last);
      last = seconds;
    }
    for (const double bytes : {1024.0, 65536.0, 1048576.0 * 64}) {
      coll::Collective one = collective;
      one.bytes = bytes;
      CHECK(cost.seconds(bytes, 1) == within(coll::seconds(one, coll::Method::events), kExact));
    }
  }
}

TEST_CASE("exchange: only the sizes around those that are asked for are sampled, once") {
  std::vector<double> sampled;
  const plan::Cost cost = sampled_cost([&](double bytes) {
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
  coll::Collective collective =
      point(coll::Op::allreduce, Id::automatic, 16, 0, {6.1e-6, 1 / 1.2e10, 0});
  collective.links.two_level = coll::TwoLevel{8, 1, {1e-6, 1e-6, 1 / 3e11}};
  const plan::Cost cost = planner_cost(collective);
  for (const double bytes : {1024.0, 65536.0, 1048576.0}) {
    CAPTURE(bytes);
    coll::Collective one = collective;
    one.bytes = bytes;
    one.options.chunking = coll::Chunking::real;
    one = coll::with_chosen_algorithm(one);
    CHECK(cost.seconds(bytes, 1) == within(coll::max_plus(one).seconds, kExact));
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
      const coll::Collective collective =
          point(coll::Op::allreduce, algorithm, ranks, 0, {5e-5, 8e-10, random.uniform(0, 4e-9)});
      const plan::Cost cost = merge_cost(collective, std::nullopt);
      for (int trial = 0; trial < 50; ++trial) {
        coll::Collective one = collective;
        one.options.chunking = coll::Chunking::real;
        one.bytes = static_cast<double>(random.integer(1, 10'000'000));
        CAPTURE(one.bytes);
        CHECK(cost.seconds(one.bytes, 1) == within(coll::max_plus(one).seconds, kExact));
        CHECK(cost.seconds(one.bytes, 1) <=
              planner_cost(collective).seconds(one.bytes, 1) * (1 + kExact));
      }
      CHECK(cost.seconds(0, 1) == 0);
      // A run by the formula takes the formula.
      CHECK(merge_cost(collective, coll::Method::closed_form).is_linear());
    }
  }
}

TEST_CASE("exchange: without latency next to nothing takes next to nothing") {
  const coll::Collective ring = on_fabric(point(coll::Op::allreduce, Id::ring, 4, 0, {}),
                                          net::star(4, {0, 1e9}), hosts_in_order(4));
  const plan::Cost cost = planner_cost(ring);
  for (const double bytes : {1e-3, 1.0, 10.0}) {
    CHECK(cost.seconds(bytes, 1) == within(1.5 * bytes / 1e9, 1e-9));
  }
}

TEST_CASE("exchange: a message on a fabric goes by events and says what its links carry") {
  ExchangeTimes times(on_star(Id::ring, 4), std::nullopt, std::nullopt);
  const Exchange& message = times(Bytes{4'000'000});
  CHECK(times.method() == coll::Method::events);
  CHECK(message.seconds == within(6 * (2 * kLink.latency_s + 1e6 / kLink.bandwidth_Bps), kExact));
  REQUIRE(message.links.size() == 2 * 4);
  for (const net::LinkUse& use : message.links) {
    CHECK(use.bytes == within(6e6, kExact));
    CHECK(use.busy_s == within(6e6 / kLink.bandwidth_Bps, kExact));
  }
  ExchangeTimes plain(point(coll::Op::allreduce, Id::ring, 4, 0, {1e-6, 1e-9, 0}), std::nullopt,
                      std::nullopt);
  CHECK(plain(Bytes{4'000'000}).links.empty());
}

} // namespace
} // namespace stepsim::train
