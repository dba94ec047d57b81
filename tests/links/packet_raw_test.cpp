// Raw flows: formulas F1-F3, order of events, thresholds, spraying (PKT 14).
#include <doctest/doctest.h>

#include "links/packet_scenes.hpp"

namespace stepsim::links {
namespace {

Fabric two_leaves() {
  return leaf_spine(
      {.leaves = 2, .hosts_per_leaf = 4, .spines = 4, .host = kLink10G, .uplink = kLink10G});
}

// F1 with k links.
Picoseconds f1(std::int64_t packets, std::int64_t links) {
  return (packets + links - 1) * kTau + links * kDelay;
}

TEST_CASE("packet level: one flow takes (n + k - 1) tau + k d") {
  const Fabric fabric = star(2, kLink10G);
  const auto result =
      run(fabric, with(TransportKind::raw), {{.src = 0, .dst = 1, .size_bytes = 1000 * kPayload}});
  CHECK(result.flows[0].fct() == f1(1000, 2));
  CHECK(f1(1000, 2) == us(1203.2)); // V1
  const Fabric far = two_leaves();
  for (const auto& [packets, expected] : {std::pair{1000, 1207.6}, std::pair{1, 8.8}}) { // V2, V4
    const auto four = run(far, with(TransportKind::raw),
                          {{.src = 0, .dst = 4, .size_bytes = packets * kPayload}});
    CHECK(four.flows[0].fct() == us(expected));
    CHECK(four.flows[0].fct() == f1(packets, 4));
    CHECK(four.packet_hops == 4 * static_cast<std::uint64_t>(packets));
  }
}

TEST_CASE("packet level: a synchronised burst into one port is cut to min(Q, W(N-1)+1) + W - 1") {
  const Fabric fabric = star(9, kLink10G);
  const auto result = run(fabric, with(TransportKind::raw), incast(8, 64 * kPayload));
  std::uint32_t accepted = 0;
  std::int64_t lost = 0;
  for (const MessageResult& flow : result.flows) {
    accepted += flow.delivered_packets;
    lost += flow.lost_network_bytes;
  }
  CHECK(accepted == 100 + 64 - 1); // V6
  CHECK(all_drops(result, DropCause::buffer) == 8 * 64 - 163);
  CHECK(lost == 349 * kPayload);
  CHECK(last_end(result) == (163 + 1) * kTau + 2 * kDelay);
  CHECK(last_end(result) == us(198.8));
  CHECK(max_queue_of_switches(fabric, result) == 100);
}

TEST_CASE("packet level: two senders into one queue alternate, in two queues take turns") {
  const Fabric fabric = star(3, kLink10G);
  std::vector<PacketFlow> flows = incast(2, 100 * kPayload);
  const PacketOptions options = unlimited(TransportKind::raw);
  const auto shared = run(fabric, options, flows); // V11
  CHECK(shared.flows[0].fct() == us(242.0));
  CHECK(shared.flows[1].fct() == us(243.2));
  flows[1].queue = 2;
  const auto ordered = run(fabric, options, flows); // V12
  CHECK(ordered.flows[0].fct() == us(123.2));
  CHECK(ordered.flows[1].fct() == us(243.2));
  flows[0].queue = 2;
  flows[1].queue = 1;
  const auto swapped = run(fabric, options, flows);
  CHECK(swapped.flows[0].fct() == us(243.2));
  CHECK(swapped.flows[1].fct() == us(123.2));
}

TEST_CASE("packet level: droppable packets leave the buffer to protected ones") {
  const Fabric fabric = star(9, kLink10G); // V13
  std::vector<PacketFlow> flows = incast(8, 64 * kPayload);
  for (PacketFlow& flow : flows) {
    flow.drop_rule = {.kind = DropRule::Kind::every, .every = 2, .offset = 0};
  }
  PacketOptions options = with(TransportKind::raw);
  options.buffer.packets = 200;
  options.drop_droppable = 20;
  const auto result = run(fabric, options, flows);
  std::uint32_t accepted = 0;
  for (const MessageResult& flow : result.flows) {
    accepted += flow.delivered_packets;
  }
  CHECK(accepted == 254 + 8);
  CHECK(all_drops(result, DropCause::buffer) == 2);
  CHECK(all_drops(result, DropCause::threshold) == 248);
  CHECK(last_end(result) == us(317.6));
  CHECK(max_queue_of_switches(fabric, result) == 200);
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
