// Reno and DCTCP (PKT 5.3, 5.4; acceptance rows of PKT 14).
#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.hpp"
#include "links/packet_scenes.hpp"

namespace stepsim::links {
namespace {

constexpr Picoseconds kAck = 32'000; // 40 bytes at 10 Gbit/s

TEST_CASE("reno: a loss-free window's worth takes (n + 1) tau + 2 d on a star") {
  const Fabric fabric = star(2, kLink10G); // V17, loss-free
  const auto result = run(fabric, unlimited(TransportKind::reno),
                          {{.src = 0, .dst = 1, .size_bytes = 10 * kPayload}});
  CHECK(result.flows[0].fct() == 11 * kTau + 2 * kDelay);
  CHECK(result.flows[0].fct() == us(15.2));
  CHECK(result.packet_hops == 10 * 4); // data and ACK, two links each
}

TEST_CASE("reno: a packet lost in the middle costs a fast retransmission, no timeout") {
  const Fabric fabric = star(2, kLink10G);
  PacketOptions options = with(TransportKind::reno);
  options.drop_once = {{.link = link_between(fabric, 0, 2), .connection = 0, .seq = 20}};
  const auto result = run(fabric, options, {{.src = 0, .dst = 1, .size_bytes = 60 * kPayload}});
  CHECK(result.flows[0].timeouts == 0);
  CHECK(result.flows[0].retransmissions == 1);
  CHECK(result.flows[0].fct() < kMillisecond);
}

TEST_CASE("reno: one and two senders without overflow run at the rate of the link") {
  const std::int64_t bytes = 65536; // 44 full packets and one of 1296 + 40 bytes
  const Picoseconds last = transmission(1336, 1'250'000'000);
  const auto one = run(star(2, kLink10G), with(TransportKind::reno), incast(1, bytes)); // V22
  CHECK(one.flows[0].fct() == (45 + 2 - 2) * kTau + last + 2 * kDelay);
  CHECK(one.flows[0].fct() == us(57.0688));
  const auto two = run(star(3, kLink10G), with(TransportKind::reno), incast(2, bytes));
  CHECK(two.flows[0].fct() == us(109.8688));
  CHECK(two.flows[1].fct() == us(110.9376));
}

TEST_CASE("reno: the tail of an incast is the least timeout, the fastest flow is not") {
  const Fabric fabric = star(33, kLink10G); // V21
  std::vector<Picoseconds> fastest;
  for (const double rto_min : {0.001, 0.010, 0.200}) {
    CAPTURE(rto_min);
    PacketOptions options = with(TransportKind::reno);
    options.transport.tcp.rto_min_s = rto_min;
    options.transport.tcp.rto_initial_s = rto_min;
    const auto result = run(fabric, options, incast(32, 65536));
    Picoseconds least = kNeverPs;
    for (const MessageResult& flow : result.flows) {
      least = std::min(least, flow.fct());
    }
    fastest.push_back(least);
    const Picoseconds rto = to_picoseconds(rto_min);
    CHECK(last_end(result) >= rto);
    CHECK(last_end(result) <= rto + 7 * kMillisecond / 2);
    MESSAGE("max FCT ", to_seconds(last_end(result)) * 1e3, " ms");
  }
  CHECK(fastest[0] == fastest[1]);
  CHECK(fastest[1] == fastest[2]);
}

TEST_CASE("dctcp: the tail of an incast does not depend on the size of the flows") {
  const Fabric fabric = star(9, kLink10G); // V20
  PacketOptions options = with(TransportKind::dctcp);
  options.mark_packets = 65;
  std::vector<double> tail;
  for (const std::int64_t bytes : {65536, 1'000'000}) {
    const auto result = run(fabric, options, incast(8, bytes));
    tail.push_back(to_seconds(last_end(result)));
    CAPTURE(bytes);
    CHECK(tail.back() >= 0.010);
    CHECK(tail.back() <= 0.014);
    MESSAGE("max FCT ", tail.back() * 1e3, " ms");
    std::uint64_t marks = 0;
    for (const LinkCounters& link : result.links) {
      marks += link.marks;
    }
    CHECK(marks > 0);
  }
  CHECK(tail[1] / tail[0] >= 0.8);
  CHECK(tail[1] / tail[0] <= 1.5);
}

TEST_CASE("dctcp: two long flows keep the queue near the threshold and lose nothing") {
  const Fabric fabric = star(3, kLink10G);
  PacketOptions options = with(TransportKind::dctcp);
  options.mark_packets = 30;
  const auto result = run(fabric, options, incast(2, 5000 * kPayload));
  CHECK(all_drops(result, DropCause::buffer) == 0);
  // The link never idles but at the start: 10,000 packets back to back.
  CHECK(to_seconds(last_end(result)) == within(10'000 * 1.2e-6, 0.01));
}

TEST_CASE("window: a flow whose window covers the round trip runs at the rate of the link") {
  const Fabric fabric = star(2, kLink10G);
  const auto result = run(fabric, unlimited(TransportKind::window),
                          {{.src = 0, .dst = 1, .size_bytes = 1000 * kPayload}});
  CHECK(result.flows[0].fct() == (1000 + 1) * kTau + 2 * kDelay);
}

TEST_CASE("window: one packet at a time takes a round trip each") {
  const Fabric fabric = star(2, kLink10G);
  PacketOptions options = unlimited(TransportKind::window);
  options.transport.window_packets = 1;
  const auto result = run(fabric, options, {{.src = 0, .dst = 1, .size_bytes = 50 * kPayload}});
  const Picoseconds way = 2 * (kTau + kDelay);
  CHECK(result.flows[0].fct() == 49 * (way + 2 * (kAck + kDelay)) + way);
}

TEST_CASE("reno: messages on one connection are delivered in the order of hand-over") {
  const Fabric fabric = star(2, kLink10G);
  const Routes routes(fabric);
  PacketNetwork network(fabric, routes, unlimited(TransportKind::reno));
  const ConnectionId connection = network.open({.src = 0, .dst = 1, .number = 0});
  std::vector<MessageId> done;
  for (int i = 0; i < 5; ++i) {
    network.hand_over({.connection = connection, .size_bytes = 100 * kPayload});
  }
  while (network.advance(kNeverPs, done)) {}
  REQUIRE(done == std::vector<MessageId>{0, 1, 2, 3, 4});
  CHECK(network.result(4).fct() == (500 + 1) * kTau + 2 * kDelay);
  CHECK(network.result(0).fct() == (100 + 1) * kTau + 2 * kDelay);
}

TEST_CASE("reno: random losses are repaired, whatever is lost") {
  const Fabric fabric = star(3, kLink10G);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    for (const TransportKind kind :
         {TransportKind::reno, TransportKind::dctcp, TransportKind::pfabric}) {
      PacketOptions options = with(kind);
      options.seed = seed;
      for (LinkId link = 0; link < fabric.links.size(); ++link) {
        options.link_loss.push_back({link, 0.05});
      }
      const auto result = run(fabric, options, incast(2, 300 * kPayload));
      for (const MessageResult& flow : result.flows) {
        CHECK(flow.complete());
        CHECK(flow.delivered_bytes == flow.size_bytes);
        CHECK(flow.retransmissions > 0);
      }
    }
  }
}

TEST_CASE("reno: spraying looks like loss and makes it retransmit in vain") {
  const Fabric fabric = leaf_spine(
      {.leaves = 2, .hosts_per_leaf = 4, .spines = 4, .host = kLink10G, .uplink = kLink10G});
  PacketOptions options = unlimited(TransportKind::reno); // Q10
  options.load_balancing = LoadBalancing::spray_random;
  std::vector<PacketFlow> flows;
  for (NodeId host = 0; host < 4; ++host) {
    flows.push_back({.src = host, .dst = 4 + host, .size_bytes = 1000 * kPayload});
  }
  double sum = 0;
  for (options.seed = 1; options.seed <= 5; ++options.seed) {
    CAPTURE(options.seed);
    const auto result = run(fabric, options, flows);
    std::uint32_t again = 0;
    for (const MessageResult& flow : result.flows) {
      CHECK(flow.timeouts == 0);
      again += flow.fast_retransmits;
    }
    CHECK(again >= 50); // reference: about 90 in 4 x 1000 packets, FCT x 1.6
    CHECK(again <= 150);
    CHECK(all_drops(result, DropCause::buffer) == 0);
    sum += to_seconds(last_end(result)) / 1207.6e-6;
    MESSAGE("fast retransmits ", again, ", FCT x ", to_seconds(last_end(result)) / 1207.6e-6);
  }
  CHECK(sum / 5 >= 1.4);
  CHECK(sum / 5 <= 1.8);
}

} // namespace
} // namespace stepsim::links
