// Lower bounds on fabrics, and what holds on every fabric: random ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/random.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/lower_bound.hpp"
#include "collectives/on_fabric.hpp"
#include "collectives/point.hpp"
#include "collectives/schedule/ring_rails.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::within;
using test::fitting;
using test::hosts_in_order;
using test::on_fabric;
using test::point;
using Id = AlgorithmId;

constexpr double kExact = 1e-9;
constexpr links::LinkSpeed kLink{2.5e-6, 1.25e9};

struct Random {
  base::RandomStream stream;
  explicit Random(std::uint64_t seed) : stream({.seed = seed}) {}
  std::uint32_t below(std::uint32_t limit) {
    return static_cast<std::uint32_t>(stream.integer(0, limit - 1));
  }
  double between(double low, double high) { return stream.uniform(low, high); }
};

links::Fabric random_fabric(Random& random) {
  const auto speed = [&] {
    return links::LinkSpeed{random.between(0, 1e-5), random.between(1e8, 1e10)};
  };
  links::Fabric fabric;
  switch (random.below(5)) {
  case 0:
    fabric = links::star(2 + random.below(10), speed());
    break;
  case 1:
    fabric = links::leaf_spine(
        {1 + random.below(4), 1 + random.below(4), 1 + random.below(3), speed(), speed()});
    break;
  case 2:
    fabric = links::torus({2 + random.below(3), 2 + random.below(2)}, speed());
    break;
  case 3:
    fabric = links::gpu_machines({.machines = 2,
                                  .gpus = 1 + random.below(4),
                                  .nics = 1,
                                  .nvlink = speed(),
                                  .pcie = speed(),
                                  .network = speed(),
                                  .uplink = {}});
    break;
  default:
    fabric = links::fat_tree(4, speed());
    break;
  }
  if (random.below(2) == 0) { // every cable of its own rate
    for (std::size_t link = 0; link < fabric.links.size(); ++link) {
      fabric.links[link].bandwidth_Bps *= random.between(0.5, 2);
    }
  }
  return fabric;
}

// Ranks on random hosts, several to a host now and then.
Collective random_collective(Random& random) {
  std::vector<AlgorithmRow> rows; // of those that know a topology
  std::ranges::copy_if(algorithm_table(), std::back_inserter(rows), [](const AlgorithmRow& each) {
    return !stepsim::collectives::test::in_switch(each.algorithm) && each.algorithm != kRingRails;
  });
  const AlgorithmRow& row = rows[random.below(static_cast<std::uint32_t>(rows.size()))];
  Collective collective = point(row.op, row.algorithm, fitting(row.algorithm, 1 + random.below(12)),
                                std::floor(std::pow(10, random.between(0, 7))),
                                {0, 0, random.below(2) * random.between(0, 1e-9)});
  links::Fabric fabric = random_fabric(random);
  collective.options.chunking = random.below(2) == 0 ? Chunking::integer : Chunking::real;
  collective.options.servers = 1 + random.below(collective.ranks);
  collective.options.placement = Placement(random.below(3));
  collective.root = random.below(collective.ranks);
  const double beta = random.below(3) == 0 ? 0 : random.between(1e-11, 1e-8);
  std::vector<links::NodeId> hosts;
  const std::uint32_t gpus = 1 + random.below(3);
  if (row.candidate == Candidate::two_level || random.below(2) == 0) {
    collective.ranks -= collective.ranks % gpus == 0 ? 0 : collective.ranks % gpus;
    collective.ranks = std::max(collective.ranks, gpus);
    collective.ranks *= takes_ranks(row.algorithm, collective.ranks) ? 1 : 2;
    collective.root %= collective.ranks;
    collective.options.servers = 1 + random.below(collective.ranks);
    const double alpha = random.between(0, 1e-5);
    collective.links.two_level = TwoLevel{gpus, 1, {alpha, alpha, beta}};
  }
  for (std::uint32_t end = 0; end < collective.ranks + collective.options.servers; ++end) {
    hosts.push_back(random.below(fabric.hosts));
  }
  const bool spray = random.below(2) == 0;
  return on_fabric(collective, std::move(fabric), std::move(hosts),
                   {.seed = random.below(100), .spray = spray}, {1000, random.between(0, 100)});
}

TEST_CASE("fabric bound: servers and workers on one host push and pull through no common port") {
  Collective c = point(Op::allreduce, AlgorithmId::parameter_server, 9, 4.5e6, {0, 0, 0});
  c.options.servers = 5;
  c.options.placement = Placement::dedicated;
  c.links.two_level = TwoLevel{3, 1, {1e-6, 1e-6, 1e-9}};
  const Collective together =
      on_fabric(c, links::star(2, kLink), std::vector<links::NodeId>(14, 0));
  // Two copies of a fifth, one after the other.
  const double expected = 2 * (1e-6 + 4.5e6 / 5 * 1e-9);
  CHECK(lower_bound(together).seconds() <= expected * (1 + 1e-12));
  CHECK(lower_bound(together).bandwidth_s == within(2 * 4.5e6 / 5 * 1e-9, 1e-12));
  CHECK(events(together).seconds == within(expected, 1e-9));
}

TEST_CASE("fabric bound: no collective on a random fabric is quicker") {
  double nearest = 1e9;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Collective collective = random_collective(random);
    CAPTURE(name(collective.op));
    CAPTURE(name(collective.algorithm));
    CAPTURE(collective.ranks);
    const double time = events(collective).seconds;
    const double bound = lower_bound(collective).seconds();
    CHECK(time >= bound * (1 - 1e-8));
    if (bound > 0) {
      nearest = std::min(nearest, time / bound);
    }
  }
  CHECK(nearest == within(1, 1e-6)); // it is reached
}

TEST_CASE("fabric: rates times c and times over c scale the time by 1/c") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Collective collective = random_collective(random);
    const links::RankFabric& ranks = *collective.links.fabric;
    constexpr double kFactor = 8; // exact in binary
    links::Fabric quick = ranks.fabric();
    for (links::FabricLink& link : quick.links) {
      link.bandwidth_Bps *= kFactor;
      link.latency_s /= kFactor;
    }
    Collective scaled = on_fabric(collective, quick, ranks.hosts, ranks.paths, ranks.headers);
    scaled.reduction_s_per_byte /= kFactor;
    if (scaled.links.two_level) {
      LinkCost& intra = scaled.links.two_level->intra;
      intra = {intra.latency_s / kFactor, intra.block_latency_s / kFactor,
               intra.per_byte_s / kFactor};
    }
    CHECK(events(scaled).seconds * kFactor == within(events(collective).seconds, kExact));
    CHECK(lower_bound(scaled).seconds() * kFactor ==
          within(lower_bound(collective).seconds(), kExact));
  }
}

TEST_CASE("fabric bound: on a star it is that of equal links, but for the latency of COL 6") {
  for (const AlgorithmRow& row : algorithm_table()) {
    if (is_two_level(row.algorithm)) {
      continue;
    }
    for (const std::uint32_t ranks : {2U, 5U, 8U}) {
      if (!takes_ranks(row.algorithm, ranks)) {
        continue;
      }
      CAPTURE(name(row.op));
      CAPTURE(name(row.algorithm));
      const Collective flat = point(row.op, row.algorithm, ranks, 1e6,
                                    {2 * kLink.latency_s, 1 / kLink.bandwidth_Bps, 1e-10});
      const Collective star =
          on_fabric(flat, links::star(ranks + 1, kLink), hosts_in_order(ranks + 1));
      const LowerBound bound = lower_bound(star);
      const LowerBound expected = lower_bound(flat);
      CHECK(bound.latency_s == within(expected.latency_s, kExact));
      CHECK(bound.bandwidth_s == within(expected.bandwidth_s, kExact));
      CHECK(bound.reduction_s == within(expected.reduction_s, kExact));
    }
  }
}

TEST_CASE("fabric bound: the larger parts may lie where the cable is slow") {
  // Three bytes, two with rank 0, so that one has to come in there.
  links::Fabric fabric = links::star(2, {0, 1e9});
  fabric.links[1].bandwidth_Bps = 1; // down to host 0
  Collective parts = on_fabric(point(Op::allgather, Id::ring, 2, 3, {}), std::move(fabric), {0, 1});
  parts.options.chunking = Chunking::integer;
  CHECK(lower_bound(parts).bandwidth_s == 1);
  CHECK(events(parts).seconds == within(1, 1e-8));
  parts.op = Op::reduce_scatter; // rank 0 gets at least one byte of the sums
  CHECK(lower_bound(parts).bandwidth_s == 1);
  CHECK(events(parts).seconds == within(2, 1e-8));
}

TEST_CASE("fabric bound: four ranks of a host share its cable") {
  // Two hosts of four ranks: 2 (H-1) n in all, over two cables.
  const Collective sums = on_fabric(point(Op::allreduce, Id::ring, 8, 8e6, {}),
                                    links::star(2, kLink), {0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(lower_bound(sums).bandwidth_s == within(8e6 / kLink.bandwidth_Bps, kExact));
  // Half of the parts belong to the other host.
  Collective parts = sums;
  parts.op = Op::allgather;
  CHECK(lower_bound(parts).bandwidth_s == within(4e6 / kLink.bandwidth_Bps, kExact));
}

} // namespace
} // namespace stepsim::collectives
