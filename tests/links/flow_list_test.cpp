#include "links/flow/flow_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/random.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::links {
namespace {

using stepsim::testing::within;

TEST_CASE("flow list: incast is one flow from each sender to the host after them") {
  std::vector<FlowSpec> flows;
  add_incast(flows, 3, {.bytes = 65536, .start_s = 0.5});
  REQUIRE(flows.size() == 3);
  for (NodeId host = 0; host < 3; ++host) {
    CHECK(flows[host].src == host);
    CHECK(flows[host].dst == 3);
    CHECK(flows[host].bytes == 65536);
    CHECK(flows[host].start_s == 0.5);
    CHECK(flows[host].priority == 1);
  }
  add_incast(flows, 1, {.bytes = 1}); // appends
  CHECK(flows.size() == 4);
}

TEST_CASE("flow list: all to all has every ordered pair, by source") {
  std::vector<FlowSpec> flows;
  add_all_to_all(flows, 5, {.bytes = 7});
  REQUIRE(flows.size() == 5 * 4);
  std::set<std::pair<NodeId, NodeId>> pairs;
  for (const FlowSpec& flow : flows) {
    CHECK(flow.src != flow.dst);
    pairs.insert({flow.src, flow.dst});
  }
  CHECK(pairs.size() == flows.size());
  CHECK(std::is_sorted(flows.begin(), flows.end(), [](const FlowSpec& a, const FlowSpec& b) {
    return std::pair(a.src, a.dst) < std::pair(b.src, b.dst);
  }));
  flows.clear();
  add_all_to_all(flows, 1, {.bytes = 7});
  CHECK(flows.empty());
}

TEST_CASE("flow list: a permutation is one, without a host that sends to itself") {
  for (const std::uint32_t hosts : {3U, 4U, 5U, 16U, 257U}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(hosts);
      CAPTURE(seed);
      std::vector<FlowSpec> flows;
      add_permutation(flows, hosts, seed, {.bytes = 9});
      REQUIRE(flows.size() == hosts);
      std::set<NodeId> receivers;
      for (NodeId host = 0; host < hosts; ++host) {
        CHECK(flows[host].src == host);
        CHECK(flows[host].dst != host);
        CHECK(flows[host].dst < hosts);
        receivers.insert(flows[host].dst);
      }
      CHECK(receivers.size() == hosts);
    }
  }
}

TEST_CASE("flow list: two hosts swap, one host is silent, another seed is another permutation") {
  std::vector<FlowSpec> flows;
  add_permutation(flows, 1, 1, {.bytes = 9});
  CHECK(flows.empty());
  add_permutation(flows, 2, 1, {.bytes = 9});
  REQUIRE(flows.size() == 2);
  CHECK(flows[0].dst == 1);
  CHECK(flows[1].dst == 0);
  const auto receivers = [](std::uint64_t seed) {
    std::vector<FlowSpec> list;
    add_permutation(list, 64, seed, {.bytes = 9});
    std::vector<NodeId> result;
    for (const FlowSpec& flow : list) {
      result.push_back(flow.dst);
    }
    return result;
  };
  CHECK(receivers(1) == receivers(1));
  CHECK(receivers(1) != receivers(2));
}

// 3 hosts have the two derangements 1 2 0 and 2 0 1: equally likely, 300 draws within 4 sigma.
TEST_CASE("flow list: every permutation without a fixed host is equally likely") {
  int first = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::vector<FlowSpec> flows;
    add_permutation(flows, 3, seed, {.bytes = 9});
    first += flows[0].dst == 1 ? 1 : 0;
  }
  CHECK(std::abs(first - 150) < 4 * 8.7);
}

TEST_CASE("flow list: jitter moves flow i by u01(seed, 3, i) of it") {
  std::vector<FlowSpec> flows;
  add_incast(flows, 3, {.bytes = 1, .start_s = 2});
  add_start_jitter(flows, 0.25, 1);
  const double draws[] = {0.8323609501268625, 0.40265100409281496, 0.5595523851783101};
  for (std::size_t i = 0; i < 3; ++i) { // draws of PKT 3.6
    CHECK(flows[i].start_s == within(2 + 0.25 * draws[i], 1e-15));
  }
}

TEST_CASE("flow list: bytes on the wire are those of the flow and a header per packet") {
  CHECK(wire_bytes(0, 1460, 40) == 0);
  CHECK(wire_bytes(1, 1460, 40) == 1 + 40);
  CHECK(wire_bytes(1460, 1460, 40) == 1500);
  CHECK(wire_bytes(1461, 1460, 40) == 1461 + 2 * 40);
  CHECK(wire_bytes(1460e6, 1460, 40) == 1500e6);
}

} // namespace
} // namespace stepsim::links
