#include "links/packet/background.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "links/fabric/topology.hpp"
#include "links/packet/packet_network.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::links;
using stepsim::testing::within;

namespace {

const BackgroundOptions kTwoSteps{
    .load = 0.4, .cdf = {{100, 0.2}, {1000, 0.5}, {10000, 1}}, .transport = TransportKind::dctcp};

} // namespace

TEST_CASE("background: the mean of a distribution, and sizes by its inverse") {
  // 0.2 x 100 + 0.3 x (100 + 1000)/2 + 0.5 x (1000 + 10000)/2
  CHECK(mean_bytes(kTwoSteps) == within(0.2 * 100 + 0.3 * 550 + 0.5 * 5500, 1e-12));
  CHECK(bytes_at(kTwoSteps, 0) == 100);
  CHECK(bytes_at(kTwoSteps, 0.1) == 100);
  CHECK(bytes_at(kTwoSteps, 0.35) == within(550, 1e-12));
  CHECK(bytes_at(kTwoSteps, 0.75) == within(5500, 1e-12));
  CHECK(mean_bytes({.load = 0.5, .cdf = {{1460, 1}}}) == 1460);
}

TEST_CASE("background: Poisson arrivals of the asked load, to all other hosts alike, in order") {
  const Fabric fabric = star(5, {.latency_s = 0, .bandwidth_Bps = 1e9});
  BackgroundArrivals arrivals(fabric, kTwoSteps, 7);
  constexpr int kFlows = 40'000;
  double last = 0;
  double bytes = 0;
  std::vector<std::vector<int>> sent(5, std::vector<int>(5));
  for (int i = 0; i < kFlows; ++i) {
    CHECK(arrivals.next_s() >= last);
    const BackgroundFlow flow = arrivals.take();
    last = flow.start_s;
    bytes += static_cast<double>(flow.bytes);
    ++sent[flow.src][flow.dst];
  }
  // load = bytes / (5 hosts x bandwidth x time); the relative deviation of a sum of n products of
  // a size is about 1.2 / sqrt(n) here.
  CHECK(bytes / (5 * 1e9 * last) == within(0.4, 0.03));
  for (std::size_t src = 0; src < 5; ++src) {
    CHECK(sent[src][src] == 0);
    for (std::size_t dst = 0; dst < 5; ++dst) {
      if (src != dst) { // 2000 each, 4 sigma
        CHECK(std::abs(sent[src][dst] - kFlows / 20) < 4 * std::sqrt(kFlows / 20.0));
      }
    }
  }
}

TEST_CASE("background: none without a load or another host; the same by the same seed") {
  const Fabric two = star(2, {.latency_s = 0, .bandwidth_Bps = 1e9});
  CHECK(BackgroundArrivals(two, {}, 1).none());
  CHECK(BackgroundArrivals(star(1, {.latency_s = 0, .bandwidth_Bps = 1e9}), kTwoSteps, 1).none());
  BackgroundArrivals a(two, kTwoSteps, 1);
  BackgroundArrivals b(two, kTwoSteps, 1);
  BackgroundArrivals c(two, kTwoSteps, 2);
  CHECK(a.next_s() == b.next_s());
  CHECK(a.next_s() != c.next_s());
}

TEST_CASE(
    "background: flows of the list are slower, the run ends with them, and its own are apart") {
  const Fabric fabric = star(5, {.latency_s = 1e-6, .bandwidth_Bps = 1.25e9});
  const Routes routes(fabric);
  PacketOptions options;
  options.transport.kind = TransportKind::dctcp;
  std::vector<PacketFlow> flows(1);
  flows[0] = {.src = 0, .dst = 4, .size_bytes = 5'000'000};
  const BackgroundOptions background{
      .load = 0.3, .cdf = {{50'000, 1}}, .transport = TransportKind::dctcp};
  const PacketFlowsResult alone = run_packet_flows(fabric, routes, options, flows);
  const PacketFlowsResult busy = run_packet_flows(fabric, routes, options, flows, background);
  CHECK(alone.background.empty());
  REQUIRE(busy.flows.size() == 1);
  CHECK(busy.flows[0].complete());
  CHECK(busy.flows[0].fct() > alone.flows[0].fct());
  CHECK(busy.end == busy.flows[0].end);
  CHECK(busy.background.size() > 20); // 5 hosts x 0.3 x 1.25e9 / 50000 x 4 ms = 150 expected
}
