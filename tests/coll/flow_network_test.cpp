// Collectives through the flow level: on a star, where transfers that run together never share a
// link, the fabric is alpha-beta with alpha = two latencies.
#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "coll/evaluate.hpp"
#include "coll/point.hpp"
#include "net/presets.hpp"
#include "net/rank_fabric.hpp"

namespace stepsim::coll {
namespace {

using test::point;
using Id = AlgorithmId;

constexpr double kExact = 1e-9;
constexpr net::LinkSpeed kLink{2.5e-6, 1.25e9};

Evaluation on_fabric(const Collective& collective, const net::Fabric& fabric,
                     const std::vector<net::NodeId>& hosts) {
  Collective on = collective;
  on.links = {};
  on.links.fabric = std::make_shared<const net::RankFabric>(
      net::RankFabric{std::make_shared<const net::RoutedFabric>(fabric), hosts, {}, 1});
  return events(on, true);
}

std::vector<net::NodeId> hosts_in_order(std::uint32_t ranks) {
  std::vector<net::NodeId> hosts(ranks);
  std::iota(hosts.begin(), hosts.end(), 0U);
  return hosts;
}

TEST_CASE("flow network: every collective on a star takes what alpha-beta says") {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 13U, 16U}) {
    for (const Id algorithm :
         {Id::ring, Id::mst, Id::be, Id::recursive_doubling, Id::lp, Id::double_binary_tree}) {
      for (const double gamma : {0.0, 3e-10}) {
        CAPTURE(ranks);
        CAPTURE(name(algorithm));
        CAPTURE(gamma);
        Collective collective = point(Op::allreduce, algorithm, ranks, 1e6,
                                      {2 * kLink.latency_s, 1 / kLink.bandwidth_Bps, gamma});
        collective.options.chunking = Chunking::real;
        collective.options.block = Bytes{100000};
        const net::Fabric fabric = net::star(ranks + 1, kLink);
        const Evaluation run = on_fabric(collective, fabric, hosts_in_order(ranks));
        const Evaluation sweep = max_plus(collective);
        CHECK(run.seconds == doctest::Approx(sweep.seconds).epsilon(kExact));
        CHECK(run.messages == sweep.messages);
      }
    }
  }
}

TEST_CASE("flow network: a ring on a star is its closed form, also on a leaf-spine without "
          "sharing") {
  const Collective collective =
      point(Op::allreduce, Id::ring, 8, 8e6, {2 * kLink.latency_s, 1 / kLink.bandwidth_Bps, 0});
  CHECK(on_fabric(collective, net::star(8, kLink), hosts_in_order(8)).seconds ==
        doctest::Approx(closed_form(collective)->seconds).epsilon(kExact));
  // Two leaves: in every step two of the eight transfers cross to the other leaf over four links,
  // and everybody waits for them in turn; no chunk crosses in more than 4 of the 14 steps.
  const double inside = 2 * kLink.latency_s + 1e6 / kLink.bandwidth_Bps;
  const double across = inside + 2 * kLink.latency_s;
  const double seconds =
      on_fabric(collective, net::leaf_spine({2, 4, 1, kLink, kLink}), hosts_in_order(8)).seconds;
  CHECK(seconds >= 10 * inside + 4 * across - 1e-12);
  CHECK(seconds <= 14 * across + 1e-12);
}

TEST_CASE("flow network: ranks dealt out over two leaves with one uplink share it") {
  // Ranks on alternating leaves: all eight transfers of a step cross, four over each uplink.
  const Collective collective = point(Op::allreduce, Id::ring, 8, 8e6, {0, 1, 0});
  const net::LinkSpeed link{0, kLink.bandwidth_Bps};
  const double seconds =
      on_fabric(collective, net::leaf_spine({2, 4, 1, link, link}), {0, 4, 1, 5, 2, 6, 3, 7})
          .seconds;
  CHECK(seconds == doctest::Approx(14 * 4 * 1e6 / kLink.bandwidth_Bps).epsilon(kExact));
}

} // namespace
} // namespace stepsim::coll
