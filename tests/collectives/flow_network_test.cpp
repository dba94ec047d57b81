// Rings through the flow level: where hosts of two leaves wait for each other, and share uplinks.
// More in fabric_test.cpp.
#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/on_fabric.hpp"
#include "collectives/point.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::within;
using test::hosts_in_order;
using test::point;
using Id = AlgorithmId;

constexpr double kExact = 1e-9;
constexpr links::LinkSpeed kLink{2.5e-6, 1.25e9};

double seconds_on(const Collective& collective, links::Fabric fabric,
                  std::vector<links::NodeId> hosts) {
  return events(test::on_fabric(collective, std::move(fabric), std::move(hosts))).seconds;
}

TEST_CASE("flow network: a ring on a star is its closed form, also on a leaf-spine without "
          "sharing") {
  const Collective collective =
      point(Op::allreduce, Id::ring, 8, 8e6, {2 * kLink.latency_s, 1 / kLink.bandwidth_Bps, 0});
  CHECK(seconds_on(collective, links::star(8, kLink), hosts_in_order(8)) ==
        within(closed_form(collective)->seconds, kExact));
  // Two leaves: in every step two of the eight transfers cross to the other leaf over four links,
  // and everybody waits for them in turn; no chunk crosses in more than 4 of the 14 steps.
  const double inside = 2 * kLink.latency_s + 1e6 / kLink.bandwidth_Bps;
  const double across = inside + 2 * kLink.latency_s;
  const double seconds =
      seconds_on(collective, links::leaf_spine({2, 4, 1, kLink, kLink}), hosts_in_order(8));
  CHECK(seconds >= 10 * inside + 4 * across - 1e-12);
  CHECK(seconds <= 14 * across + 1e-12);
}

TEST_CASE("flow network: ranks dealt out over two leaves with one uplink share it") {
  // Ranks on alternating leaves: all eight transfers of a step cross, four over each uplink.
  const Collective collective = point(Op::allreduce, Id::ring, 8, 8e6, {0, 1, 0});
  const links::LinkSpeed link{0, kLink.bandwidth_Bps};
  const double seconds =
      seconds_on(collective, links::leaf_spine({2, 4, 1, link, link}), {0, 4, 1, 5, 2, 6, 3, 7});
  CHECK(seconds == within(14 * 4 * 1e6 / kLink.bandwidth_Bps, kExact));
}

} // namespace
} // namespace stepsim::collectives
