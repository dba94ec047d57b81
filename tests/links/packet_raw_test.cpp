// Raw flows: order of events, own uplinks, spraying, shared pools (PKT 14).
#include <doctest/doctest.h>

#include "links/packet_scenes.hpp"

namespace stepsim::links {
namespace {

Fabric two_leaves() {
  return leaf_spine(
      {.leaves = 2, .hosts_per_leaf = 4, .spines = 4, .host = kLink10G, .uplink = kLink10G});
}

std::vector<PacketFlow> across(const Fabric& fabric, const std::vector<NodeId>& spines) {
  const Routes routes(fabric);
  std::vector<PacketFlow> flows;
  for (NodeId host = 0; host < 4; ++host) {
    flows.push_back({.src = host, .dst = 4 + host, .size_bytes = 1000 * kPayload});
    if (!spines.empty()) {
      flows.back().path = path_via(fabric, routes, host, 4 + host, 10 + spines[host]);
    }
  }
  return flows;
}

TEST_CASE("packet level: flows on their own uplinks never queue, two on one share it") {
  const Fabric fabric = two_leaves();
  PacketOptions options = unlimited(TransportKind::raw);
  options.load_balancing = LoadBalancing::explicit_path;
  const auto own = run(fabric, options, across(fabric, {0, 1, 2, 3})); // V23
  for (const MessageResult& flow : own.flows) {
    CHECK(flow.fct() == us(1207.6));
  }
  CHECK(max_queue_of_switches(fabric, own) == 1);
  const auto shared = run(fabric, options, across(fabric, {0, 0, 2, 3})); // V24
  CHECK(shared.flows[0].fct() == us(2406.4));
  CHECK(shared.flows[1].fct() == us(2407.6));
  CHECK(shared.flows[2].fct() == us(1207.6));
  CHECK(shared.flows[3].fct() == us(1207.6));
  CHECK(max_queue_of_switches(fabric, shared) == 1001);
}

TEST_CASE("packet level: spraying in turn loads all uplinks evenly") {
  const Fabric fabric = two_leaves(); // V26
  PacketOptions options = unlimited(TransportKind::raw);
  options.load_balancing = LoadBalancing::spray_round_robin;
  const auto result = run(fabric, options, across(fabric, {}));
  for (const MessageResult& flow : result.flows) {
    CHECK(flow.fct() == us(1207.6));
    CHECK(flow.inversions == 0);
  }
  for (NodeId spine = 10; spine < 14; ++spine) {
    CHECK(result.links[link_between(fabric, 8, spine)].packets == 1000);
  }
  CHECK(max_queue_of_switches(fabric, result) == 1);
}

TEST_CASE("packet level: spraying at random is nearly even, and reorders") {
  const Fabric fabric = two_leaves(); // V28
  PacketOptions options = unlimited(TransportKind::raw);
  options.load_balancing = LoadBalancing::spray_random;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    options.seed = seed;
    const auto result = run(fabric, options, across(fabric, {}));
    std::uint32_t inversions = 0;
    for (const MessageResult& flow : result.flows) {
      CHECK(flow.fct() >= us(1207.6));
      CHECK(flow.fct() <= us(1400));
      inversions += flow.inversions;
    }
    CHECK(inversions >= 1200);
    CHECK(inversions <= 1700);
    for (NodeId spine = 10; spine < 14; ++spine) {
      const std::uint64_t load = result.links[link_between(fabric, 8, spine)].packets;
      CHECK(load >= 880);
      CHECK(load <= 1120);
    }
  }
}

TEST_CASE("packet level: hot queues of a shared pool hold alpha P / (1 + j alpha) each") {
  PacketOptions options = with(TransportKind::raw); // V33, F8
  options.buffer = {.scope = BufferScope::shared, .bytes = 16'000'000, .alpha = 1};
  for (const std::uint32_t hot : {1U, 3U}) {
    CAPTURE(hot);
    const std::uint32_t senders = 12; // 12 / hot at each hot port
    const Fabric fabric = star(senders + hot, kLink10G);
    std::vector<PacketFlow> flows;
    for (NodeId host = 0; host < senders; ++host) {
      flows.push_back({.src = host, .dst = senders + host % hot, .size_bytes = 9000 * kPayload});
    }
    const auto result = run(fabric, options, flows);
    const std::int64_t expected = 16'000'000 / (1 + hot);
    for (std::uint32_t port = 0; port < hot; ++port) {
      const LinkId down = link_between(fabric, fabric.hosts, senders + port);
      const std::int64_t held = std::int64_t{1500} * result.links[down].max_queue;
      CHECK(held >= expected - 1500);
      CHECK(held <= expected + 1500);
    }
  }
}

} // namespace
} // namespace stepsim::links
