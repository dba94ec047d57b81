// Properties of nodes with several ranks: what a node shares, and that better hardware is never
// slower, by every evaluator.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/evaluate/server_flows.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/point.hpp"
#include "collectives/schedule/ring_rails.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using Id = AlgorithmId;

constexpr double kSlack = 1e-9;
// Fair shares of an interface are not monotone by themselves: a transfer that is ready earlier
// takes its share from one that the rest waits for, and three interfaces may put together two
// senders that two interfaces keep apart (local rank l uses interface l mod R, COL 5.9). In 6,000
// random clusters each, the largest excess was 8 % for faster links, 2 % for lower latencies, 19 %
// for more interfaces (of swing; 13 % of others), and none for several interfaces instead of one.
constexpr double kFairShares = 0.2;

// Nodes of equal size, an algorithm of the operation, and what the evaluator needs.
Collective random_cluster(base::RandomStream& random) {
  Collective collective;
  collective.op = static_cast<Op>(random.integer(0, 4));
  const std::vector<Id> algorithms = valid_algorithms(collective.op);
  do {
    collective.algorithm = algorithms[static_cast<std::size_t>(
        random.integer(0, static_cast<std::int64_t>(algorithms.size()) - 1))];
  } while (collective.algorithm == Id::automatic || collective.algorithm == kRingRails ||
           test::in_switch(collective.algorithm)); // have tests of their own
  const auto gpus = static_cast<std::uint32_t>(random.integer(2, 5));
  collective.ranks = gpus * static_cast<std::uint32_t>(random.integer(1, 4));
  collective.ranks *= takes_ranks(collective.algorithm, collective.ranks) ? 1 : 2;
  collective.bytes = static_cast<double>(random.integer(1, 5000));
  const double latency = random.uniform(0, 1e-3);
  collective.links.all = {latency, latency, random.uniform(1e-8, 1e-6)};
  const double inner = random.uniform(0, 1e-4);
  collective.links.two_level = TwoLevel{gpus,
                                        static_cast<std::uint32_t>(random.integer(1, gpus)),
                                        {inner, inner, random.uniform(1e-9, 1e-7)}};
  collective.reduction_s_per_byte = random.integer(0, 1) == 0 ? 0 : random.uniform(0, 1e-7);
  collective.options.block = Bytes{random.integer(50, 1000)};
  collective.options.chunking = Chunking::real;
  if (collective.algorithm == Id::parameter_server) {
    collective.options.placement = static_cast<Placement>(random.integer(0, 2));
    collective.options.servers = static_cast<std::uint32_t>(random.integer(1, gpus));
  }
  return collective;
}

// Empty where the evaluator has no answer for it.
std::optional<double> time_by(const Collective& collective, Method method) {
  switch (method) {
  case Method::closed_form: {
    const auto form = collective.homogeneous() ? closed_form(collective) : std::nullopt;
    return form ? std::optional(form->seconds) : std::nullopt;
  }
  case Method::max_plus:
    return max_plus_defined(collective) ? std::optional(max_plus(collective).seconds)
                                        : std::nullopt;
  case Method::events:
    return events(collective).seconds;
  }
  return std::nullopt;
}

void keep(Collective& /*collective*/) {}

// `first` prepares a random cluster, `better` improves it.
template <class Change, class Prepare = void (*)(Collective&)>
void never_slower(std::uint64_t seed, int instances, Change better, Prepare first = keep) {
  base::RandomStream random({.seed = seed});
  for (int i = 0; i < instances; ++i) {
    Collective before = random_cluster(random);
    first(before);
    Collective after = before;
    better(after, random);
    for (const Method method : {Method::closed_form, Method::max_plus, Method::events}) {
      const auto slow = time_by(before, method);
      const auto fast = time_by(after, method);
      if (!slow || !fast) {
        continue;
      }
      INFO("instance " << i << ": " << name(before.op) << " " << name(before.algorithm) << " by "
                       << name(method) << ", ranks " << before.ranks << " of "
                       << before.links.two_level->gpus_per_node << ", interfaces "
                       << before.links.two_level->nics_per_node << " -> "
                       << after.links.two_level->nics_per_node);
      const bool shares =
          method == Method::events && after.links.two_level->nics_per_node > 0 &&
          !(before.links.two_level->nics_per_node == 1 && after.links.two_level->nics_per_node > 1);
      CHECK(*fast <= *slow * (1 + (shares ? kFairShares : kSlack)));
    }
  }
}

} // namespace

TEST_CASE("property: a faster network between nodes never makes a collective slower") {
  never_slower(1, 400, [](Collective& c, base::RandomStream& random) {
    c.links.all.per_byte_s *= random.uniform(0.1, 1);
  });
}

TEST_CASE("property: a faster network inside nodes never makes a collective slower") {
  never_slower(2, 400, [](Collective& c, base::RandomStream& random) {
    c.links.two_level->intra.per_byte_s *= random.uniform(0.1, 1);
  });
}

TEST_CASE("property: a lower latency never makes a collective slower") {
  never_slower(3, 400, [](Collective& c, base::RandomStream& random) {
    for (LinkCost* cost : {&c.links.all, &c.links.two_level->intra}) {
      cost->latency_s *= random.uniform(0, 1);
      cost->block_latency_s = cost->latency_s;
    }
  });
}

TEST_CASE("property: one interface of a node is never faster than several") {
  never_slower(
      4, 600,
      [](Collective& c, base::RandomStream& random) {
        const std::uint32_t gpus = c.links.two_level->gpus_per_node;
        c.links.two_level->nics_per_node = static_cast<std::uint32_t>(random.integer(1, gpus));
      },
      [](Collective& c) { c.links.two_level->nics_per_node = 1; });
}

TEST_CASE("property: more interfaces of a node never make a collective slower") {
  never_slower(5, 600, [](Collective& c, base::RandomStream& random) {
    std::uint32_t& nics = c.links.two_level->nics_per_node;
    nics = static_cast<std::uint32_t>(random.integer(nics, c.links.two_level->gpus_per_node));
  });
}

TEST_CASE("the GPUs of a node share its interfaces: every rank of two nodes sends to the other") {
  // Recursive doubling over 2 nodes of G: the last exchange crosses, G transfers leave each node.
  constexpr double kBytes = 1e6;
  constexpr double kBeta = 1e-9;
  for (const std::uint32_t nics : {1U, 2U, 4U}) {
    Collective c = test::point(Op::allreduce, Id::recursive_doubling, 8, kBytes, {0, kBeta, 0});
    c.links.two_level = TwoLevel{4, nics, {0, 0, kBeta / 100}};
    const double inside = 2 * kBytes * kBeta / 100; // exchanges of ranks 1 and 2 apart
    const double across = 4.0 / nics * kBytes * kBeta;
    for (const Method method : {Method::max_plus, Method::events}) {
      CHECK(*time_by(c, method) == stepsim::testing::within(inside + across, 1e-9));
    }
  }
}

TEST_CASE("parameter servers: the workers of a node share its interfaces") {
  // P workers in nodes of 4 push n / S bytes to each of S dedicated servers: P n / S reach the port
  // of a server, and c n leave the interface that c workers share.
  constexpr double kAlpha = 1e-5;
  constexpr double kBeta = 1e-9;
  constexpr double kBytes = 8e6;
  for (const std::uint32_t servers : {1U, 2U, 4U, 8U}) {
    for (const std::uint32_t nics : {1U, 2U, 4U}) {
      Collective c =
          test::point(Op::allreduce, Id::parameter_server, 8, kBytes, {kAlpha, kBeta, 0});
      c.links.two_level = TwoLevel{4, nics, {1e-6, 1e-6, kBeta / 100}};
      c.options.servers = servers;
      const double busiest = std::max(8.0 / servers, 4.0 / nics);
      const double seconds = 2 * (kAlpha + busiest * kBytes * kBeta);
      CHECK(*time_by(c, Method::closed_form) == stepsim::testing::within(seconds, 1e-9));
      CHECK(*time_by(c, Method::events) == stepsim::testing::within(seconds, 1e-9));
    }
  }
}

TEST_CASE("parameter servers on workers: what stays in a node uses the network inside") {
  // One server on rank 0 of two nodes of two: rank 1 pushes inside, ranks 2 and 3 share an
  // interface, and the way back is the same.
  constexpr double kOuter = 1e-9;
  constexpr double kInner = 1e-10;
  constexpr double kBytes = 1e6;
  Collective c = test::point(Op::allreduce, Id::parameter_server, 4, kBytes, {0, kOuter, 0});
  c.links.two_level = TwoLevel{2, 1, {0, 0, kInner}};
  c.options.placement = Placement::colocated;
  CHECK(*time_by(c, Method::events) == stepsim::testing::within(2 * (2 * kBytes * kOuter), 1e-9));
  c.ranks = 2; // one node
  CHECK(*time_by(c, Method::closed_form) == stepsim::testing::within(2 * (kBytes * kInner), 1e-9));
}

} // namespace stepsim::collectives
