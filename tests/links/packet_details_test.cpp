// Single rules of the packet level, each where it decides the result (PKT 3.5-3.7, 5).
#include <doctest/doctest.h>

#include "base/random.hpp"
#include "links/packet_scenes.hpp"

namespace stepsim::links {
namespace {

constexpr Picoseconds kAck = 32'000; // 40 bytes at 10 Gbit/s
constexpr Picoseconds kWay = 2 * (kTau + kDelay);
constexpr Picoseconds kRoundTrip = kWay + 2 * (kAck + kDelay);

TEST_CASE("packet level: a droppable packet is dropped when the queue holds K_drop (F12)") {
  // Two senders, every fourth packet protected: the last arrivals find the threshold reached.
  for (const std::uint32_t threshold : {6U, 7U, 20U}) {
    CAPTURE(threshold);
    PacketOptions options = unlimited(TransportKind::raw);
    options.drop_droppable = threshold;
    std::vector<PacketFlow> flows = incast(2, 64 * kPayload);
    for (PacketFlow& flow : flows) {
      flow.drop_rule = {.kind = DropRule::Kind::every, .every = 4, .offset = 0};
    }
    const auto result = run(star(3, kLink10G), options, flows);
    const std::uint32_t accepted = threshold + 64 - 1;
    CHECK(result.flows[0].delivered_packets + result.flows[1].delivered_packets == accepted);
    CHECK(last_end(result) == (accepted + 1) * kTau + 2 * kDelay);
  }
}

TEST_CASE("packet level: an ECN-capable packet is marked when the queue holds K_mark") {
  PacketOptions options = unlimited(TransportKind::raw);
  options.mark_packets = 30;
  std::vector<PacketFlow> flows = incast(2, 100 * kPayload);
  for (PacketFlow& flow : flows) {
    flow.drop_rule = {.kind = DropRule::Kind::every, .every = 1, .offset = 0};
  }
  const Fabric fabric = star(3, kLink10G);
  const auto result = run(fabric, options, flows);
  // The two arrivals at instant i find i and i + 1 packets.
  CHECK(result.links[link_between(fabric, 3, 2)].marks == (100 - 30) + (100 - 29));
}

// Host 0 has two equal cables of 10 Gbit/s to the switch, host 1 one of 100 Gbit/s.
Fabric two_cables() {
  Fabric fabric;
  fabric.hosts = 2;
  fabric.switches = 1;
  fabric.node_names = {"a", "b", "s"};
  for (const auto& [host, rate] : {std::pair{0U, 1.25e9}, {0U, 1.25e9}, {1U, 1.25e10}}) {
    fabric.links.push_back({host, 2, 1e-6, rate});
    fabric.links.push_back({2, host, 1e-6, rate});
  }
  return fabric;
}

// The last two of 2 n packets reach the switch together: n tau + 2 (tau / 10) + 2 d (PKT 3.6).
TEST_CASE(
    "packet level: sprayed packets leave a host on all its equal cables, in every transport") {
  const Fabric fabric = two_cables();
  const auto check = [&](PacketOptions options, std::int64_t packets, Picoseconds late) {
    CAPTURE(static_cast<int>(options.transport.kind));
    CAPTURE(static_cast<int>(options.transport.dlcp.rate_control));
    options.load_balancing = LoadBalancing::spray_round_robin;
    const auto result = run(
        fabric, options, {{.src = 0, .dst = 1, .size_bytes = 1000 * kPayload, .loss_bound = 0.1}});
    const Picoseconds least = packets / 2 * kTau + 2 * (kTau / 10) + 2 * kDelay;
    CHECK(result.flows[0].fct() >= least);
    CHECK(result.flows[0].fct() <= least + late);
    CHECK(result.links[0].bytes == result.links[2].bytes);
  };
  for (const TransportKind kind : {TransportKind::raw, TransportKind::window, TransportKind::reno,
                                   TransportKind::dctcp, TransportKind::pfabric}) {
    check(unlimited(kind), 1000, 0);
  }
  for (const RateControl control : {RateControl::none, RateControl::dctcp, RateControl::timely}) {
    PacketOptions options = unlimited(TransportKind::dlcp);
    options.transport.dlcp.rate_control = control;
    check(options, 900, control == RateControl::none ? 0 : kTau / 2); // half a packet between two
  }
}

TEST_CASE("packet level: a packet sprayed at random goes where the hash says") {
  const Fabric fabric = leaf_spine(
      {.leaves = 2, .hosts_per_leaf = 4, .spines = 4, .host = kLink10G, .uplink = kLink10G});
  PacketOptions options = unlimited(TransportKind::raw);
  options.load_balancing = LoadBalancing::spray_random;
  options.seed = 5;
  const auto result = run(fabric, options, {{.src = 1, .dst = 6, .size_bytes = 300 * kPayload}});
  std::array<std::uint64_t, 4> expected{};
  for (std::uint32_t tx = 1; tx <= 300; ++tx) { // leaf of host 1 is node 8, the flow is number 0
    ++expected[base::pick(base::hash(5, 2, 8, 1, 6, 0, tx), 4)];
  }
  for (std::uint32_t spine = 0; spine < 4; ++spine) {
    CHECK(result.links[link_between(fabric, 8, 10 + spine)].packets == expected[spine]);
  }
}

TEST_CASE("packet level: short packets take their own time on every link") {
  const Fabric fabric = star(2, kLink10G);
  const auto result = run(fabric, with(TransportKind::raw),
                          {{.src = 0, .dst = 1, .size_bytes = 85}}); // 125 bytes: 0.1 us
  CHECK(result.flows[0].fct() == 2 * (100'000 + kDelay));
}

TEST_CASE("reno: timeouts in a row double up to 64 times the first") {
  const Fabric fabric = star(2, kLink10G);
  PacketOptions options = with(TransportKind::reno);
  for (std::uint32_t nth = 1; nth <= 9; ++nth) {
    options.drop_once.push_back(
        {.link = link_between(fabric, 0, 2), .connection = 0, .seq = 0, .nth = nth});
  }
  const auto result = run(fabric, options, incast(1, kPayload));
  CHECK(result.flows[0].timeouts == 9);
  const Picoseconds waits = 1 + 2 + 4 + 8 + 16 + 32 + 64 + 64 + 64;
  CHECK(result.flows[0].fct() == waits * 10 * kMillisecond + kWay);
}

TEST_CASE("reno: the timeout is srtt + 4 rttvar; after one sample 3 round trips") {
  const Fabric fabric = star(2, kLink10G);
  const Routes routes(fabric);
  PacketOptions options = with(TransportKind::reno);
  options.transport.tcp.rto_min_s = 1e-9;
  options.drop_once = {{.link = link_between(fabric, 0, 2), .connection = 0, .seq = 1}};
  PacketNetwork network(fabric, routes, options);
  const ConnectionId connection = network.open({.src = 0, .dst = 1, .number = 0});
  network.hand_over({.connection = connection, .size_bytes = kPayload});
  const MessageId second =
      network.hand_over({.connection = connection, .size_bytes = kPayload, .start = kMillisecond});
  std::vector<MessageId> done;
  while (network.advance(kNeverPs, done)) {}
  CHECK(network.result(second).fct() == 3 * kRoundTrip + kWay);
}

TEST_CASE("reno: two packets lost in one window are repaired in two round trips") {
  // Packets 0 .. 9 at once, 3 and 5 lost. The third duplicate ACK is that of packet 7 and sends 3
  // again (ssthresh = max(flight / 2, 2)); its ACK is partial and sends 5 again.
  const Fabric fabric = star(2, kLink10G);
  PacketOptions options = with(TransportKind::reno);
  const LinkId up = link_between(fabric, 0, 2);
  options.drop_once = {{.link = up, .connection = 0, .seq = 3},
                       {.link = up, .connection = 0, .seq = 5}};
  const auto result = run(fabric, options, incast(1, 10 * kPayload));
  CHECK(result.flows[0].timeouts == 0);
  CHECK(result.flows[0].fast_retransmits == 1);
  CHECK(result.flows[0].retransmissions == 2);
  // The last of packets 0 .. 9 leaves the host at 10 tau = 12 us; ACK 7 comes at 8 tau + round trip
  // - tau, when the host is idle. One round trip later the partial ACK, one way later packet 5.
  CHECK(result.flows[0].fct() == 7 * kTau + kRoundTrip + kRoundTrip + kWay);
}

TEST_CASE("reno: incasts agree with the reference simulator to its digits") {
  for (const auto& [rto_min, expected_ms] :
       {std::pair{0.001, 3.19}, {0.010, 10.90}, {0.200, 200.90}}) { // V21
    PacketOptions options = with(TransportKind::reno);
    options.transport.tcp.rto_min_s = rto_min;
    options.transport.tcp.rto_initial_s = rto_min;
    const auto result = run(star(33, kLink10G), options, incast(32, 65536));
    CHECK(std::abs(to_seconds(last_end(result)) * 1e3 - expected_ms) <= 0.005);
  }
  PacketOptions options = with(TransportKind::dctcp); // V20
  options.mark_packets = 65;
  const auto small = run(star(9, kLink10G), options, incast(8, 65536));
  CHECK(std::abs(to_seconds(last_end(small)) * 1e3 - 10.21) <= 0.005);
  const auto large = run(star(9, kLink10G), options, incast(8, 1'000'000));
  CHECK(std::abs(to_seconds(last_end(large)) * 1e3 - 10.98) <= 0.005);
}

TEST_CASE("reno: after an idle time the window starts anew, if that is asked for") {
  const Picoseconds delay = 100 * kDelay;
  const Fabric fabric = star(2, {.latency_s = 100e-6, .bandwidth_Bps = 1.25e9});
  const Routes routes(fabric);
  for (const bool restart : {false, true}) {
    PacketOptions options = unlimited(TransportKind::reno);
    options.transport.tcp.restart_after_idle = restart;
    PacketNetwork network(fabric, routes, options);
    const ConnectionId connection = network.open({.src = 0, .dst = 1, .number = 0});
    network.hand_over({.connection = connection, .size_bytes = 400 * kPayload});
    const MessageId second = network.hand_over(
        {.connection = connection, .size_bytes = 40 * kPayload, .start = 100 * kMillisecond});
    std::vector<MessageId> done;
    while (network.advance(kNeverPs, done)) {}
    // Windows of 10 and 20 packets, a round trip each, then the last 10; or all 40 at once.
    const Picoseconds round_trip = 2 * (kTau + delay) + 2 * (kAck + delay);
    CHECK(network.result(second).fct() ==
          (restart ? 2 * round_trip + 11 * kTau + 2 * delay : 41 * kTau + 2 * delay));
  }
}

TEST_CASE("dctcp: retransmissions that are not ECN-capable meet more timeouts") {
  // Reference, 16 senders: 10 instead of 1.
  std::array<std::uint32_t, 2> timeouts{};
  for (const bool ect : {false, true}) {
    PacketOptions options = with(TransportKind::dctcp);
    options.mark_packets = 65;
    options.transport.tcp.retransmissions_ect = ect;
    const auto result = run(star(17, kLink10G), options, incast(16, 65536));
    for (const MessageResult& flow : result.flows) {
      timeouts[ect ? 1 : 0] += flow.timeouts;
    }
    CHECK((all_drops(result, DropCause::threshold) > 0) == !ect);
  }
  MESSAGE("timeouts ", timeouts[0], " and ", timeouts[1]);
  CHECK(timeouts[0] > timeouts[1]);
}

TEST_CASE("dlcp: at the floor of 1/64 of the line rate a packet leaves every 64 tau") {
  PacketOptions options = with(TransportKind::dlcp);
  options.mark_packets = 0; // every packet is marked: alpha stays 1, the rate halves to its floor
  const auto fct = [&](std::int64_t packets) {
    return run(star(2, kLink10G), options, incast(1, packets * kPayload)).flows[0].fct();
  };
  CHECK(fct(300) - fct(200) == 100 * 64 * kTau);
  options.transport.dlcp.rate_floor = 1.0 / 8;
  CHECK(fct(300) - fct(200) == 100 * 8 * kTau);
}

constexpr Picoseconds kBase = 6'000'000;

Feedback answer(std::uint32_t tx, std::uint32_t arrivals, std::uint32_t marked, Picoseconds rtt) {
  return {tx, arrivals, marked, rtt};
}

TEST_CASE("dlcp rate: one cut a round trip, by the marked and missing part") {
  DlcpRate rate({.rate_control = RateControl::dctcp}, kBase, kTau);
  rate.feedback(answer(8, 8, 2, kBase), 20);
  const double alpha1 = 15.0 / 16 * 1 + 1.0 / 16 * 2 / 8; // alpha was 1
  CHECK(rate.alpha() == within(alpha1, 1e-5));
  const double rate1 = 1 - alpha1 / 2;
  CHECK(rate.of_line() == within(rate1, 1e-5));
  rate.feedback(answer(16, 14, 4, kBase), 25); // packet 16 was sent before the cut at 20
  CHECK(rate.of_line() == within(rate1, 1e-5));
  rate.feedback(answer(12, 14, 4, kBase), 25); // late
  rate.feedback(answer(24, 22, 4, kBase), 30);
  // Since the cut: 16 sent, 2 marked and 2 missing of the first 8, nothing of the others.
  const double alpha2 = 15.0 / 16 * alpha1 + 1.0 / 16 * 4 / 16;
  CHECK(rate.alpha() == within(alpha2, 1e-5));
  const double rate2 = rate1 * (1 - alpha2 / 2);
  CHECK(rate.of_line() == within(rate2, 1e-5));
  rate.feedback(answer(32, 30, 4, 2 * kBase), 40); // nothing wrong: one packet a round trip more
  const double rate3 = rate2 + 1.2 / 12;
  CHECK(rate.of_line() == within(rate3, 1e-5));
  for (std::uint32_t i = 1; i < 40; ++i) {
    rate.feedback(answer(32 + 8 * i, 30 + 8 * i, 4, kBase), 32 + 8 * i);
  }
  CHECK(rate.of_line() == 1); // never above the line
}

TEST_CASE("dlcp rate: never below the floor") {
  DlcpRate rate({.rate_control = RateControl::dctcp}, kBase, kTau);
  for (std::uint32_t i = 1; i < 40; ++i) {
    rate.feedback(answer(8 * i, 8 * i, 8 * i, kBase), 8 * i);
  }
  CHECK(rate.of_line() == 1.0 / 64);
}

TEST_CASE("dlcp rate: timely follows the gradient of the round trip") {
  const double step = 1.0 / 64;
  DlcpRate rate({.rate_control = RateControl::timely}, kBase, kTau);
  std::uint32_t tx = 0;
  const auto feed = [&](double round_trips) {
    tx += 8;
    rate.feedback(answer(tx, tx, 0, std::llround(round_trips * kBase)), tx);
    return rate.of_line();
  };
  double expected = 1;
  CHECK(feed(20) == within(expected *= 1 - 0.8 * (1 - 10.0 / 20), 1e-5)); // far too long
  CHECK(feed(20) == within(expected *= 1 - 0.8 * (1 - 10.0 / 20), 1e-5));
  CHECK(feed(5) == within(expected += step, 1e-5)); // shorter: differences fall
  for (int i = 0; i < 3; ++i) {
    CHECK(feed(5) == within(expected += step, 1e-5));
  }
  CHECK(feed(5) == within(expected += 5 * step, 1e-5)); // the fifth in a row
  double difference = 0;                                // of the samples above, in base round trips
  for (const double change : {0.0, 0.0, -15.0, 0.0, 0.0, 0.0, 0.0, 0.4}) {
    difference = 0.125 * difference + 0.875 * change;
  }
  CHECK(feed(5.4) == within(expected *= 1 - 0.8 * difference, 1e-5)); // longer
  CHECK(difference > 0.3);
  CHECK(feed(9) == within(expected *= 0.5, 1e-5));    // much longer
  CHECK(feed(1.5) == within(expected += step, 1e-5)); // short
}

TEST_CASE("pfabric: after five expiries in a row one packet feels its way") {
  const Fabric fabric = star(2, kLink10G);
  PacketOptions options = with(TransportKind::pfabric);
  for (std::uint32_t seq = 0; seq < 10; ++seq) {
    for (std::uint32_t nth = 1; nth <= 5; ++nth) {
      options.drop_once.push_back(
          {.link = link_between(fabric, 0, 2), .connection = 0, .seq = seq, .nth = nth});
    }
  }
  const auto result = run(fabric, options, incast(1, 10 * kPayload));
  const Picoseconds base_rtt = 2 * (2 * kDelay + kTau + kControl);
  CHECK(result.flows[0].timeouts == 5);
  CHECK(result.flows[0].fct() == 5 * 3 * base_rtt + kRoundTrip + (9 + 1) * kTau + 2 * kDelay);
}

} // namespace
} // namespace stepsim::links
