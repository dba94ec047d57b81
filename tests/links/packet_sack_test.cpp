// Selective acknowledgements of reno and dctcp (PKT 5.3).
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/random.hpp"
#include "links/packet/transport/reno.hpp"
#include "links/packet_scenes.hpp"

namespace stepsim::links {
namespace {

constexpr Picoseconds kAck = 32'000; // 40 bytes at 10 Gbit/s
constexpr Picoseconds kWay = 2 * (kTau + kDelay);
constexpr Picoseconds kRoundTrip = kWay + 2 * (kAck + kDelay);

PacketOptions sack(TransportKind kind) {
  PacketOptions options = with(kind);
  options.transport.tcp.sack = true;
  return options;
}

TEST_CASE("scoreboard: a packet with three received above it is lost") {
  Scoreboard known(3);
  for (std::uint32_t seq = 0; seq < 10; ++seq) {
    known.sent(seq);
  }
  for (const std::uint32_t seq : {0U, 1U, 2U, 4U, 6U, 7U}) {
    known.arrived(seq);
  }
  known.acknowledged(3, 5); // of the log: 0 1 2 4 6
  CHECK_FALSE(known.any_lost());
  CHECK(known.in_flight() == 5); // 3 5 7 8 9
  known.acknowledged(3, 6);
  CHECK(known.first_lost() == 3);
  CHECK(known.in_flight() == 3); // 5 8 9
  known.sent(3);
  CHECK_FALSE(known.any_lost());
  CHECK(known.in_flight() == 4);
  known.arrived(8);
  known.acknowledged(3, 7);
  CHECK(known.first_lost() == 5);
  known.arrived(5); // late, not lost
  known.arrived(9);
  known.acknowledged(3, 9);
  CHECK_FALSE(known.any_lost());
  CHECK(known.in_flight() == 1); // 3 again: never lost but by timeout
  known.timeout();
  CHECK(known.first_lost() == 3);
  CHECK(known.in_flight() == 0);
}

TEST_CASE("scoreboard: any order of arrivals, losses and timeouts counts as a set does") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    base::RandomStream random({.seed = seed});
    const auto threshold = static_cast<std::uint32_t>(random.uniform(1, 5.999));
    Scoreboard known(threshold);
    std::set<std::uint32_t> received; // by the receiver, known to the sender
    std::set<std::uint32_t> again;    // sent more than once
    std::set<std::uint32_t> lost;
    std::set<std::uint32_t> on_way;
    std::uint32_t next = 0;
    for (int step = 0; step < 600; ++step) {
      const double draw = random.uniform(0, 1);
      if (draw < 0.45) {
        on_way.insert(next);
        known.sent(next++);
      } else if (draw < 0.90 && !on_way.empty()) {
        auto chosen = on_way.begin();
        std::advance(chosen, static_cast<long>(random.uniform(
                                 0, std::min(8.0, static_cast<double>(on_way.size())) - 0.001)));
        const std::uint32_t seq = *chosen;
        on_way.erase(chosen);
        if (random.uniform(0, 1) < 0.8) { // else it vanishes: in flight until it is lost
          received.insert(seq);
          lost.erase(seq);
          known.arrived(seq);
          std::uint32_t una = 0;
          while (received.contains(una)) {
            ++una;
          }
          known.acknowledged(una, known.arrivals());
          for (std::uint32_t low = 0; low < next; ++low) {
            const auto above = std::distance(received.upper_bound(low), received.end());
            if (!received.contains(low) && !again.contains(low) && above >= threshold) {
              lost.insert(low);
            }
          }
        }
      } else if (draw < 0.97 && !lost.empty()) {
        const std::uint32_t seq = *lost.begin();
        REQUIRE(known.first_lost() == seq);
        lost.erase(seq);
        again.insert(seq);
        on_way.insert(seq);
        known.sent(seq);
      } else if (draw >= 0.995) {
        known.timeout();
        for (std::uint32_t seq = 0; seq < next; ++seq) {
          if (!received.contains(seq)) {
            lost.insert(seq);
            again.insert(seq); // lost already: sent again before anything else can be found
          }
        }
      }
      REQUIRE(known.any_lost() == !lost.empty());
      REQUIRE(known.in_flight() == next - received.size() - lost.size());
    }
  }
}

TEST_CASE("sack: two packets lost in one window are repaired in one round trip") {
  // Packets 0 .. 9 at once, 3 and 5 lost. The ACK of 7 tells that 3 is lost: it is sent again, the
  // window is 7 / 2. 5, 8, 9 and 3 are in flight, one more than the window has. The ACK of 8 tells
  // that 5 is lost: 9 and 3 are in flight, so it is sent again, one tau after 3. (NewReno waits for
  // the ACK of 3: 7 tau + 2 round trips + way.)
  const Fabric fabric = star(2, kLink10G);
  PacketOptions options = sack(TransportKind::reno);
  const LinkId up = link_between(fabric, 0, 2);
  options.drop_once = {{.link = up, .connection = 0, .seq = 3},
                       {.link = up, .connection = 0, .seq = 5}};
  const auto result = run(fabric, options, incast(1, 10 * kPayload));
  CHECK(result.flows[0].timeouts == 0);
  CHECK(result.flows[0].fast_retransmits == 1);
  CHECK(result.flows[0].retransmissions == 2);
  CHECK(result.flows[0].duplicates == 0);
  CHECK(result.flows[0].fct() == 8 * kTau + kRoundTrip + kWay);
  options.transport.tcp.sack = false;
  CHECK(run(fabric, options, incast(1, 10 * kPayload)).flows[0].fct() ==
        7 * kTau + 2 * kRoundTrip + kWay);
}

TEST_CASE("sack: many losses in one window need no round trip each") {
  // 0 .. 31 at once, every other packet from 1 to 17 is lost: nine. The window of 31 / 2 has room
  // for them before the host has sent its 32 packets, so the link never idles: F1 of 41 packets.
  const Fabric fabric = star(2, kLink10G);
  std::array<Picoseconds, 2> time{};
  for (const bool selective : {false, true}) {
    PacketOptions options = with(TransportKind::reno);
    options.transport.tcp.sack = selective;
    options.transport.tcp.initial_window = 32;
    for (std::uint32_t seq = 1; seq <= 17; seq += 2) {
      options.drop_once.push_back(
          {.link = link_between(fabric, 0, 2), .connection = 0, .seq = seq});
    }
    const auto result = run(fabric, options, incast(1, 32 * kPayload));
    CHECK(result.flows[0].retransmissions == 9);
    CHECK(result.flows[0].timeouts == 0);
    time[selective ? 1 : 0] = result.flows[0].fct();
  }
  CHECK(time[0] >= 9 * kRoundTrip);
  CHECK(time[1] == (32 + 9 + 2 - 1) * kTau + 2 * kDelay);
}

TEST_CASE("sack: after a timeout everything not received is sent again, nothing else") {
  // 0 .. 9 at once; 2, 8 and 9 lost, 8 twice. ACKs of 3, 4, 5 tell of 2; 8 and 9 have nothing above
  // them. One timeout after the ACK of 2 (una = 8) they are lost: 8 alone (window 1), lost again.
  const Fabric fabric = star(2, kLink10G);
  PacketOptions options = sack(TransportKind::reno);
  const LinkId up = link_between(fabric, 0, 2);
  for (const auto& [seq, nth] : {std::pair{2U, 1U}, {8U, 1U}, {9U, 1U}, {8U, 2U}}) {
    options.drop_once.push_back({.link = up, .connection = 0, .seq = seq, .nth = nth});
  }
  const auto result = run(fabric, options, incast(1, 10 * kPayload));
  CHECK(result.flows[0].timeouts == 2);
  CHECK(result.flows[0].retransmissions == 4); // 2, 8, 8, 9
  CHECK(result.flows[0].duplicates == 0);
  // 2 is sent again at the ACK of 5 (5 tau + round trip), its ACK restarts the timer; 10 ms, then
  // 20 ms later 8 comes through, and its ACK lets 9 go.
  CHECK(result.flows[0].fct() ==
        5 * kTau + 2 * kRoundTrip + (10 + 20) * kMillisecond + kRoundTrip + kWay);
}

TEST_CASE("sack: a retransmission that is lost costs a timeout") {
  const Fabric fabric = star(2, kLink10G);
  PacketOptions options = sack(TransportKind::reno);
  for (const std::uint32_t nth : {1U, 2U}) {
    options.drop_once.push_back(
        {.link = link_between(fabric, 0, 2), .connection = 0, .seq = 3, .nth = nth});
  }
  const auto result = run(fabric, options, incast(1, 10 * kPayload));
  CHECK(result.flows[0].timeouts == 1);
  CHECK(result.flows[0].retransmissions == 2);
  CHECK(result.flows[0].duplicates == 0);
  // The last new ACK is that of 2.
  CHECK(result.flows[0].fct() == 2 * kTau + kRoundTrip + 10 * kMillisecond + kWay);
}

TEST_CASE("sack: without losses and reordering it changes nothing") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    base::RandomStream random({.seed = seed});
    const auto senders = static_cast<std::uint32_t>(random.uniform(1, 8.999));
    std::vector<PacketFlow> flows = incast(senders, 0);
    for (PacketFlow& flow : flows) {
      flow.size_bytes = static_cast<std::int64_t>(random.uniform(1, 600'000));
      flow.start_s = random.uniform(0, 1e-4);
    }
    for (const TransportKind kind : {TransportKind::reno, TransportKind::dctcp}) {
      PacketOptions options = unlimited(kind);
      const auto plain = run(star(senders + 1, kLink10G), options, flows);
      options.transport.tcp.sack = true;
      const auto selective = run(star(senders + 1, kLink10G), options, flows);
      CHECK(plain.events == selective.events);
      CHECK(plain.packet_hops == selective.packet_hops);
      for (std::size_t flow = 0; flow < flows.size(); ++flow) {
        CHECK(plain.flows[flow].end == selective.flows[flow].end);
      }
    }
  }
}

TEST_CASE("sack: incasts stay in the bands of the reference") {
  std::vector<Picoseconds> fastest;
  for (const double rto_min : {0.001, 0.010, 0.200}) { // V21
    CAPTURE(rto_min);
    PacketOptions options = sack(TransportKind::reno);
    options.transport.tcp.rto_min_s = rto_min;
    options.transport.tcp.rto_initial_s = rto_min;
    const auto result = run(star(33, kLink10G), options, incast(32, 65536));
    fastest.push_back(std::ranges::min(result.flows, {}, &MessageResult::end).end);
    CHECK(last_end(result) >= to_picoseconds(rto_min));
    CHECK(last_end(result) <= to_picoseconds(rto_min) + 7 * kMillisecond / 2);
    MESSAGE("reno: max FCT ", to_seconds(last_end(result)) * 1e3, " ms");
  }
  CHECK(fastest[0] == fastest[1]);
  CHECK(fastest[1] == fastest[2]);
  PacketOptions options = sack(TransportKind::dctcp); // V20
  options.mark_packets = 65;
  std::vector<double> tail;
  for (const std::int64_t bytes : {65'536, 1'000'000}) {
    CAPTURE(bytes);
    tail.push_back(to_seconds(last_end(run(star(9, kLink10G), options, incast(8, bytes)))));
    MESSAGE("dctcp: max FCT ", tail.back() * 1e3, " ms");
    CHECK(tail.back() >= 0.010);
    CHECK(tail.back() <= 0.014);
  }
  CHECK(tail[1] / tail[0] >= 0.8);
  CHECK(tail[1] / tail[0] <= 1.5);
}

TEST_CASE("sack: random losses on all links, ACKs too, are always repaired") {
  const Fabric fabric = leaf_spine(
      {.leaves = 2, .hosts_per_leaf = 3, .spines = 3, .host = kLink10G, .uplink = kLink10G});
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    CAPTURE(seed);
    PacketOptions options = sack(seed % 2 == 0 ? TransportKind::reno : TransportKind::dctcp);
    options.seed = seed;
    options.load_balancing =
        seed % 4 < 2 ? LoadBalancing::spray_random : LoadBalancing::spray_round_robin;
    options.buffer.packets = 5 + static_cast<std::uint32_t>(seed);
    for (LinkId link = 0; link < fabric.links.size(); ++link) {
      options.link_loss.push_back({link, 0.01 * static_cast<double>(seed % 9)});
    }
    std::vector<PacketFlow> flows;
    for (NodeId host = 0; host < 6; ++host) {
      flows.push_back({.src = host, .dst = (host + 3) % 6, .size_bytes = 200 * kPayload});
    }
    for (const MessageResult& flow : run(fabric, options, flows).flows) {
      CHECK(flow.complete());
      CHECK(flow.delivered_bytes == flow.size_bytes);
    }
  }
}

} // namespace
} // namespace stepsim::links
