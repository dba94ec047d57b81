// Driving the network by pulling completions; errors; counters.
#include "links/packet/packet_network.hpp"

#include <doctest/doctest.h>

#include <string>

#include "base/error.hpp"
#include "links/packet_scenes.hpp"

namespace stepsim::links {
namespace {

// A ring all-reduce: in each of 2 (N - 1) steps every rank sends a chunk on, as soon as that of the
// step before has come.
struct Ring {
  std::uint32_t ranks;
  std::int64_t chunk_packets;
  std::vector<ConnectionId> to_next{};
  std::vector<std::uint32_t> step{};   // [message]
  std::vector<std::uint32_t> sender{}; // [message]

  void send(PacketNetwork& network, std::uint32_t rank, std::uint32_t number) {
    network.hand_over({.connection = to_next[rank],
                       .size_bytes = chunk_packets * kPayload,
                       .start = network.now()});
    step.push_back(number);
    sender.push_back(rank);
  }

  Picoseconds run(const PacketOptions& options) {
    const Fabric fabric = star(ranks, kLink10G);
    const Routes routes(fabric);
    PacketNetwork network(fabric, routes, options);
    for (NodeId rank = 0; rank < ranks; ++rank) {
      to_next.push_back(network.open({.src = rank, .dst = (rank + 1) % ranks, .number = rank}));
      send(network, rank, 0);
    }
    Picoseconds end = 0;
    std::vector<MessageId> done;
    while (network.advance(kNeverPs, done)) {
      for (const MessageId message : done) {
        const std::uint32_t next = (sender[message] + 1) % ranks;
        if (step[message] + 1 < 2 * (ranks - 1)) {
          send(network, next, step[message] + 1);
        }
        end = network.now();
      }
      done.clear();
    }
    return end;
  }
};

TEST_CASE("packet network: a ring all-reduce takes 2 (N - 1) ((c + k - 1) tau + k d)") {
  for (const TransportKind kind : {TransportKind::raw, TransportKind::window}) {
    for (const std::uint32_t ranks : {2U, 3U, 5U, 8U}) {
      for (const std::int64_t chunk : {1, 2, 30}) {
        CAPTURE(ranks);
        CAPTURE(chunk);
        Ring ring{.ranks = ranks, .chunk_packets = chunk};
        const Picoseconds step = (chunk + 2 - 1) * kTau + 2 * kDelay; // F10
        const Picoseconds end = ring.run(unlimited(kind));
        if (kind == TransportKind::raw) {
          CHECK(end == 2 * (ranks - 1) * step);
        } else { // ACKs of 40 bytes share the links
          CHECK(end >= 2 * (ranks - 1) * step);
          CHECK(to_seconds(end) <= 1.1 * to_seconds(2 * (ranks - 1) * step));
        }
      }
    }
  }
}

TEST_CASE("packet network: a ring all-reduce of long chunks runs at the rate of payload") {
  // V34, at 1/50 of its 102.2 MB and 1/50 of its time: 0.1470 s at 9.733 Gbit/s of payload.
  Ring ring{.ranks = 8, .chunk_packets = 102'200'000 / 50 / 8 / kPayload};
  PacketOptions options = unlimited(TransportKind::raw);
  const Picoseconds latency = 14 * (kTau + 2 * kDelay); // V34 has none
  CHECK(to_seconds(ring.run(options) - latency) == within(0.1470 / 50, 0.01));
}

TEST_CASE("packet network: what is handed over at a completion starts at that instant") {
  const Fabric fabric = star(3, kLink10G);
  const Routes routes(fabric);
  PacketNetwork network(fabric, routes, unlimited(TransportKind::raw));
  const ConnectionId first = network.open({.src = 0, .dst = 1, .number = 0});
  const ConnectionId second = network.open({.src = 1, .dst = 2, .number = 1});
  network.hand_over({.connection = first, .size_bytes = 10 * kPayload});
  std::vector<MessageId> done;
  REQUIRE(network.advance(kNeverPs, done));
  CHECK(network.now() == 11 * kTau + 2 * kDelay);
  const MessageId reply = network.hand_over(
      {.connection = second, .size_bytes = 10 * kPayload, .start = network.now()});
  CHECK(network.next_time() == network.now());
  done.clear();
  REQUIRE(network.advance(kNeverPs, done));
  CHECK(done == std::vector<MessageId>{reply});
  CHECK(network.result(reply).fct() == 11 * kTau + 2 * kDelay);
  CHECK_FALSE(network.advance(kNeverPs, done));
  CHECK(network.next_time() == kNeverPs);
}

TEST_CASE("packet network: advance stops at the time it is given") {
  const Fabric fabric = star(2, kLink10G);
  const Routes routes(fabric);
  PacketNetwork network(fabric, routes, unlimited(TransportKind::raw));
  network.hand_over(
      {.connection = network.open({.src = 0, .dst = 1}), .size_bytes = 100 * kPayload});
  std::vector<MessageId> done;
  const Picoseconds end = 101 * kTau + 2 * kDelay;
  CHECK_FALSE(network.advance(end - 1, done));
  CHECK(network.next_time() == end);
  CHECK(network.advance(end, done));
}

TEST_CASE("packet network: empty messages and those to oneself take no time") {
  const Fabric fabric = star(2, kLink10G);
  for (const TransportKind kind : {TransportKind::raw, TransportKind::reno, TransportKind::dctcp,
                                   TransportKind::pfabric, TransportKind::dlcp}) {
    const auto result = run(fabric, with(kind),
                            {{.src = 0, .dst = 1, .size_bytes = 0, .start_s = 1e-3},
                             {.src = 1, .dst = 1, .size_bytes = 5000, .start_s = 2e-3}});
    CHECK(result.flows[0].fct() == 0);
    CHECK(result.flows[0].end == kMillisecond);
    CHECK(result.flows[1].fct() == 0);
    CHECK(result.flows[1].delivered_bytes == 5000);
    CHECK(result.packet_hops == 0);
  }
}

TEST_CASE("packet network: messages that can never end are an error that names ten of them") {
  const Fabric fabric = star(13, kLink10G);
  PacketOptions options = unlimited(TransportKind::window); // no recovery
  for (std::uint32_t flow = 0; flow < 12; ++flow) {
    options.drop_once.push_back(
        {.link = link_between(fabric, flow, 13), .connection = flow, .seq = 3});
  }
  try {
    static_cast<void>(run(fabric, options, incast(12, 10 * kPayload)));
    FAIL("the lost packets can never arrive");
  } catch (const SimulationError& error) {
    const std::string text = error.what();
    CHECK(text.find("12 messages are not complete") != std::string::npos);
    CHECK(text.find("message 9 from host 9 to host 12 (9 of 10 packets), ...") !=
          std::string::npos);
    CHECK(text.find("message 10 ") == std::string::npos);
  }
}

TEST_CASE("packet network: passing the limit of simulated time is an error") {
  const Fabric fabric = star(2, kLink10G);
  PacketOptions options = with(TransportKind::reno);
  options.simulated_s = 1e-7;
  CHECK_THROWS_WITH_AS(static_cast<void>(run(fabric, options, incast(1, 10'000'000))),
                       doctest::Contains("limit of 1e-07 s: 1 messages are not complete: message 0 "
                                         "from host 0 to host 1"),
                       SimulationError);
}

TEST_CASE("packet network: counters of links add up") {
  const Fabric fabric = star(2, kLink10G);
  const auto result =
      run(fabric, with(TransportKind::reno), {{.src = 0, .dst = 1, .size_bytes = 100 * kPayload}});
  const LinkCounters& up = result.links[link_between(fabric, 0, 2)];
  const LinkCounters& back = result.links[link_between(fabric, 2, 0)];
  CHECK(up.packets == 100);
  CHECK(up.bytes == 100 * 1500);
  CHECK(up.busy == 100 * kTau);
  CHECK(back.packets == 100);
  CHECK(back.bytes == 100 * 40);
  CHECK(result.packet_hops == 400);
}

} // namespace
} // namespace stepsim::links
