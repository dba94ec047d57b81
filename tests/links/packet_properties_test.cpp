// Properties of the packet level on random instances (PKT 15, items 1-5, 9-11).
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "base/random.hpp"
#include "links/packet_scenes.hpp"

namespace stepsim::links {
namespace {

std::uint32_t whole(base::RandomStream& random, std::uint32_t from, std::uint32_t to) {
  return from + static_cast<std::uint32_t>(random.uniform(0, to - from + 0.999));
}

// Hosts 0 and 1 with `rates.size() - 1` switches in a row between them; links there and back.
Fabric line(const std::vector<double>& rates, double latency_s) {
  Fabric fabric;
  fabric.hosts = 2;
  fabric.switches = static_cast<std::uint32_t>(rates.size() - 1);
  NodeId from = 0;
  for (std::size_t hop = 0; hop < rates.size(); ++hop) {
    const NodeId to = hop + 1 == rates.size() ? 1 : static_cast<NodeId>(2 + hop);
    fabric.links.push_back({from, to, latency_s, rates[hop]});
    fabric.links.push_back({to, from, latency_s, rates[hop]});
    from = to;
  }
  for (NodeId node = 0; node < fabric.nodes(); ++node) {
    fabric.node_names.push_back("n" + std::to_string(node));
  }
  for (std::size_t link = 0; link < fabric.links.size(); ++link) {
    fabric.link_names.push_back("l" + std::to_string(link));
  }
  return fabric;
}

TEST_CASE("packet level: one flow over any line takes what F1 says") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    base::RandomStream random({.seed = seed});
    const std::uint32_t links = whole(random, 2, 6);
    const std::int64_t packets = whole(random, 1, 40);
    std::vector<double> rates(links);
    for (double& rate : rates) {
      rate = 1e8 * whole(random, 1, 30);
    }
    // Unequal rates, full packets: n tau_max + the other links' tau + sum of d.
    const auto unequal = run(line(rates, 1e-6), unlimited(TransportKind::raw),
                             {{.src = 0, .dst = 1, .size_bytes = packets * kPayload}});
    Picoseconds sum = 0;
    Picoseconds most = 0;
    for (const double rate : rates) {
      const Picoseconds tau = transmission(1500, std::llround(rate));
      sum += tau + kDelay;
      most = std::max(most, tau);
    }
    CHECK(unequal.flows[0].fct() == sum + (packets - 1) * most);

    // Equal rates, short last packet.
    const std::int64_t last = whole(random, 1, 1460);
    const std::int64_t rate = std::llround(rates[0]);
    const auto equal =
        run(line(std::vector<double>(links, rates[0]), 1e-6), unlimited(TransportKind::raw),
            {{.src = 0, .dst = 1, .size_bytes = (packets - 1) * kPayload + last}});
    const Picoseconds tau = transmission(1500, rate);
    const Picoseconds short_tau = transmission(last + 40, rate);
    const Picoseconds expected = packets == 1
                                     ? links * (short_tau + kDelay)
                                     : (packets + links - 2) * tau + short_tau + links * kDelay;
    CHECK(equal.flows[0].fct() == expected);
  }
}

TEST_CASE("packet level: any synchronised burst loses what F2 says, and nothing where F3 holds") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    base::RandomStream random({.seed = seed});
    const std::int64_t senders = seed == 1 ? 1 : whole(random, 1, 12);
    const std::int64_t window = whole(random, 1, 40);
    PacketOptions options = with(TransportKind::raw);
    options.buffer.packets = seed == 2 ? 1 : whole(random, 1, 120);
    const std::int64_t cap = options.buffer.packets;
    const auto result = run(star(static_cast<std::uint32_t>(senders + 1), kLink10G), options,
                            incast(static_cast<std::uint32_t>(senders), window * kPayload));
    std::int64_t accepted = 0;
    for (const MessageResult& flow : result.flows) {
      accepted += flow.delivered_packets;
      CHECK(flow.delivered_bytes + flow.lost_network_bytes == flow.size_bytes);
    }
    const std::int64_t expected = std::min(cap, window * (senders - 1) + 1) + window - 1;
    CHECK(accepted == expected);
    CHECK(last_end(result) == (expected + 1) * kTau + 2 * kDelay);
    if (window * (senders - 1) + 1 <= cap) {
      CHECK(accepted == senders * window);
    }
  }
}

TEST_CASE("packet level: neither priorities nor round robin change when a shared port is empty") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    base::RandomStream random({.seed = seed});
    const std::uint32_t senders = whole(random, 2, 8);
    const Fabric fabric = star(senders + 1, kLink10G);
    std::vector<PacketFlow> flows = incast(senders, 0);
    for (PacketFlow& flow : flows) {
      flow.size_bytes = whole(random, 1, 50) * kPayload;
      flow.start_s = 1e-6 * whole(random, 0, 20);
    }
    PacketOptions options = unlimited(TransportKind::raw);
    const Picoseconds end = last_end(run(fabric, options, flows));
    options.queue_discipline = QueueDiscipline::flow_round_robin;
    CHECK(last_end(run(fabric, options, flows)) == end);
    for (PacketFlow& flow : flows) {
      flow.queue = static_cast<std::uint8_t>(whole(random, 1, 7));
    }
    CHECK(last_end(run(fabric, options, flows)) == end);
    options.queue_discipline = QueueDiscipline::fifo;
    CHECK(last_end(run(fabric, options, flows)) == end);
  }
}

TEST_CASE("packet level: round robin gives the connections of a host turns, first in first out "
          "does not") {
  const Fabric fabric = star(3, kLink10G);
  const std::vector<PacketFlow> flows(2, {.src = 0, .dst = 2, .size_bytes = 100 * kPayload});
  PacketOptions options = unlimited(TransportKind::raw);
  options.queue_discipline = QueueDiscipline::flow_round_robin;
  const auto result = run(fabric, options, flows);
  CHECK(result.flows[0].fct() == (199 + 1) * kTau + 2 * kDelay);
  CHECK(result.flows[1].fct() == (200 + 1) * kTau + 2 * kDelay);
  options.queue_discipline = QueueDiscipline::fifo;
  const auto in_order = run(fabric, options, flows);
  CHECK(in_order.flows[0].fct() == (100 + 1) * kTau + 2 * kDelay);
  CHECK(in_order.flows[1].fct() == (200 + 1) * kTau + 2 * kDelay);
}

TEST_CASE("packet level: equal flows in another order swap their results") {
  const Fabric fabric = star(7, kLink10G);
  for (const TransportKind kind : {TransportKind::raw, TransportKind::reno, TransportKind::dlcp}) {
    std::vector<PacketFlow> flows = incast(6, 90 * kPayload);
    const auto result = run(fabric, with(kind), flows);
    std::reverse(flows.begin(), flows.end()); // connection i is now that of host 5 - i
    const auto swapped = run(fabric, with(kind), flows);
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK(swapped.flows[5 - i].fct() == result.flows[i].fct());
      CHECK(swapped.flows[5 - i].delivered_packets == result.flows[i].delivered_packets);
    }
  }
}

TEST_CASE("dlcp: p = 0 delivers everything whatever is lost; a larger p is never slower") {
  const Fabric fabric = star(3, kLink10G);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    base::RandomStream random({.seed = seed});
    PacketOptions options = with(TransportKind::dlcp);
    options.seed = seed;
    options.transport.dlcp.rate_control = seed % 3 == 0   ? RateControl::none
                                          : seed % 3 == 1 ? RateControl::dctcp
                                                          : RateControl::timely;
    const std::int64_t packets = seed == 1 ? 1 : whole(random, 1, 200);
    std::vector<PacketFlow> flows = incast(2, packets * kPayload);
    const double loss = random.uniform(0, 0.6);
    for (LinkId link = 0; link < fabric.links.size(); ++link) {
      options.link_loss.push_back({link, loss});
    }
    for (const MessageResult& flow : run(fabric, options, flows).flows) {
      CHECK(flow.delivered_bytes == flow.size_bytes);
    }
    options.link_loss.clear();
    Picoseconds before = kNeverPs;
    for (const double bound : {0.0, 0.05, 0.1, 0.3, 0.7}) {
      const auto result =
          run(fabric, options,
              {{.src = 0, .dst = 1, .size_bytes = packets * kPayload, .loss_bound = bound}});
      CHECK(result.flows[0].fct() <= before);
      before = result.flows[0].fct();
    }
  }
}

TEST_CASE("dlcp: without a drop threshold the drop class changes nothing") {
  const Fabric fabric = star(9, kLink10G);
  PacketOptions options = with(TransportKind::dlcp);
  options.transport.dlcp.rate_control = RateControl::none;
  options.drop_droppable = kNoThreshold;
  std::vector<PacketFlow> flows = incast(8, 45 * kPayload);
  const auto all = run(fabric, options, flows);
  for (PacketFlow& flow : flows) {
    flow.drop_rule = {.kind = DropRule::Kind::every, .every = 3, .offset = 1};
  }
  const auto some = run(fabric, options, flows);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(all.flows[i].fct() == some.flows[i].fct());
  }
  CHECK(all_drops(some, DropCause::threshold) == 0);
  CHECK(all_drops(all, DropCause::buffer) > 0);
}

TEST_CASE("packet level: a load of protected packets alone meets no threshold") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    base::RandomStream random({.seed = seed});
    const std::uint32_t senders = whole(random, 2, 8);
    std::vector<PacketFlow> flows = incast(senders, 0);
    for (PacketFlow& flow : flows) {
      flow.size_bytes = whole(random, 1, 60) * kPayload;
      flow.drop_rule = {.kind = DropRule::Kind::every, .every = 1, .offset = 0};
    }
    PacketOptions options = with(seed % 2 == 0 ? TransportKind::raw : TransportKind::dlcp);
    options.drop_droppable = 1;
    options.drop_middle = 1;
    const auto result = run(star(senders + 1, kLink10G), options, flows);
    CHECK(all_drops(result, DropCause::threshold) == 0);
    for (PacketFlow& flow : flows) {
      flow.drop_rule = {.kind = DropRule::Kind::every, .every = 2, .offset = 0};
      flow.size_bytes += 10 * kPayload;
    }
    CHECK(all_drops(run(star(senders + 1, kLink10G), options, flows), DropCause::threshold) > 0);
  }
}

TEST_CASE("packet level: ECMP spreads connections evenly over any number of links") {
  constexpr std::uint32_t kConnections = 1U << 16;
  for (const std::uint32_t links : {2U, 3U, 7U, 16U}) {
    CAPTURE(links);
    std::vector<std::uint32_t> count(links);
    for (std::uint32_t connection = 0; connection < kConnections; ++connection) {
      ++count[base::pick(base::hash(1, 1, 8, 0, 4, connection), links)];
    }
    const double expected = static_cast<double>(kConnections) / links;
    double chi_square = 0;
    for (const std::uint32_t each : count) {
      chi_square += (each - expected) * (each - expected) / expected;
    }
    // links - 1 degrees of freedom: mean links - 1, variance twice that.
    const double freedom = links - 1.0;
    CHECK(chi_square <= freedom + 4 * std::sqrt(2 * freedom));
    CHECK(chi_square > 0);
  }
}

TEST_CASE("dlcp: any packet of any message lost once costs one round of PROBE and BITMAP") {
  const Fabric fabric = star(2, kLink10G);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    base::RandomStream random({.seed = seed});
    // Rates are controlled once the first packets are acknowledged.
    const std::uint32_t packets = whole(random, 1, seed % 3 == 0 ? 60 : 10);
    const std::uint32_t lost = whole(random, 0, packets - 1);
    PacketOptions options = with(TransportKind::dlcp);
    options.transport.dlcp.rate_control =
        std::array{RateControl::none, RateControl::dctcp, RateControl::timely}[seed % 3];
    options.drop_once = {{.link = link_between(fabric, 0, 2), .connection = 0, .seq = lost}};
    const auto result = run(fabric, options, incast(1, packets * kPayload));
    CHECK(result.flows[0].probe_rounds == 1);
    CHECK(result.flows[0].retransmissions == 1);
    CHECK(result.flows[0].duplicates == 0);
    // PROBE goes out behind the last packet and waits for it at the switch, unless that is the one
    // lost; then BITMAP, then the packet.
    const Picoseconds probe = lost + 1 == packets ? packets * kTau + 2 * (kControl + kDelay)
                                                  : (packets + 1) * kTau + 2 * kDelay + kControl;
    CHECK(result.flows[0].fct() == probe + 2 * (kControl + kDelay) + 2 * (kTau + kDelay));
  }
}

TEST_CASE("dlcp: classes by size follow the share of large packets") {
  const DropRule rule{.kind = DropRule::Kind::by_size,
                      .small = DropClass::middle,
                      .large = DropClass::protected_,
                      .large_fraction = 0.3,
                      .iteration = 4,
                      .worker = 2,
                      .tensor = 11};
  int large = 0;
  for (std::uint32_t seq = 0; seq < 10'000; ++seq) {
    const DropClass drop = drop_class(rule, seq, 1);
    CHECK((drop == DropClass::middle || drop == DropClass::protected_));
    CHECK((drop == DropClass::protected_) == (base::u01(1, 4, 4, 2, 11, seq) < 0.3));
    large += drop == DropClass::protected_ ? 1 : 0;
  }
  CHECK(large > 2800);
  CHECK(large < 3200);
}

TEST_CASE("reno: the last packet of any message lost once costs one timeout (F6)") {
  const Fabric fabric = star(2, kLink10G);
  for (const std::uint32_t packets : {1U, 4U, 10U, 33U}) {
    CAPTURE(packets);
    PacketOptions options = with(TransportKind::reno);
    const auto lossless = run(fabric, options, incast(1, packets * kPayload));
    options.drop_once = {{.link = link_between(fabric, 0, 2), .connection = 0, .seq = packets - 1}};
    const auto result = run(fabric, options, incast(1, packets * kPayload));
    CHECK(result.flows[0].timeouts == 1);
    // The last new ACK is that of the packet before; without one the timer runs from the start.
    const Picoseconds ack = packets == 1 ? 0
                                         : lossless.flows[0].fct() - kTau +
                                               2 * (transmission(40, 1'250'000'000) + kDelay);
    CHECK(result.flows[0].fct() == ack + 10 * kMillisecond + 2 * (kTau + kDelay));
  }
}

TEST_CASE("packet level: the same input gives the same result, another seed another one") {
  const Fabric fabric = leaf_spine(
      {.leaves = 3, .hosts_per_leaf = 4, .spines = 3, .host = kLink10G, .uplink = kLink10G});
  for (const TransportKind kind :
       {TransportKind::reno, TransportKind::dctcp, TransportKind::pfabric, TransportKind::dlcp}) {
    PacketOptions options = with(kind);
    options.load_balancing = LoadBalancing::spray_random;
    options.link_loss = {{3, 0.02}, {9, 0.05}};
    std::vector<PacketFlow> flows;
    for (std::uint32_t flow = 0; flow < 40; ++flow) {
      flows.push_back({.src = flow % 12,
                       .dst = (flow * 5 + 1) % 12,
                       .size_bytes = 70'000 + flow,
                       .start_s = base::u01(3, 3, flow) * 1e-4,
                       .loss_bound = 0.1});
    }
    const auto times = [&] {
      std::vector<Picoseconds> all;
      const auto result = run(fabric, options, flows);
      for (const MessageResult& flow : result.flows) {
        all.push_back(flow.fct());
      }
      all.push_back(static_cast<Picoseconds>(result.events));
      all.push_back(static_cast<Picoseconds>(result.packet_hops));
      return all;
    };
    const auto first = times();
    CHECK(times() == first);
    options.seed = 2;
    CHECK(times() != first);
  }
}

TEST_CASE("packet level: ends of transmission left out of the events change no result") {
  // A shared pool without limits drops nothing, as unlimited buffers do, but has an event for every
  // end of transmission at a switch.
  const Fabric fabric = leaf_spine({.leaves = 3,
                                    .hosts_per_leaf = 3,
                                    .spines = 2,
                                    .host = kLink10G,
                                    .uplink = {.latency_s = 0, .bandwidth_Bps = 2e9}});
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    std::vector<PacketFlow> flows;
    for (std::uint32_t flow = 0; flow < 30; ++flow) {
      const std::uint64_t draw = base::hash(seed, flow);
      flows.push_back({.src = flow % 9,
                       .dst = static_cast<NodeId>((flow + 1 + draw % 8) % 9),
                       .size_bytes = static_cast<std::int64_t>(draw % 100'000),
                       .start_s = seed % 2 == 0 ? 0 : base::u01(seed, 3, flow) * 1e-4,
                       .queue = static_cast<std::uint8_t>(1 + draw % 3)});
    }
    for (const TransportKind kind :
         {TransportKind::raw, TransportKind::reno, TransportKind::dctcp, TransportKind::dlcp}) {
      PacketOptions options = unlimited(kind);
      options.seed = seed;
      options.load_balancing = seed % 3 == 0 ? LoadBalancing::spray_random : LoadBalancing::ecmp;
      const auto merged = run(fabric, options, flows);
      options.buffer = {.scope = BufferScope::shared, .bytes = 1'000'000'000'000, .alpha = 1e6};
      const auto every = run(fabric, options, flows);
      CHECK(every.events > merged.events);
      CHECK(every.packet_hops == merged.packet_hops);
      for (std::size_t flow = 0; flow < flows.size(); ++flow) {
        CHECK(every.flows[flow].fct() == merged.flows[flow].fct());
        CHECK(every.flows[flow].sent_packets == merged.flows[flow].sent_packets);
      }
      for (std::size_t link = 0; link < fabric.links.size(); ++link) {
        CHECK(every.links[link].max_queue == merged.links[link].max_queue);
        CHECK(every.links[link].marks == merged.links[link].marks);
        CHECK(every.links[link].bytes == merged.links[link].bytes);
      }
    }
  }
}

TEST_CASE("packet level: ECMP puts connections on paths as F7 says") {
  // Two flows on two uplinks meet with probability 1/2, four on four miss each other with 4!/4^4.
  for (const std::uint32_t width : {2U, 4U}) {
    const Fabric fabric = leaf_spine({.leaves = 2,
                                      .hosts_per_leaf = width,
                                      .spines = width,
                                      .host = kLink10G,
                                      .uplink = kLink10G});
    const Routes routes(fabric);
    std::vector<PacketFlow> flows;
    for (NodeId host = 0; host < width; ++host) {
      flows.push_back({.src = host, .dst = width + host, .size_bytes = 20 * kPayload});
    }
    const int trials = 1000;
    int apart = 0;
    double busiest_sum = 0;
    for (int trial = 0; trial < trials; ++trial) {
      PacketOptions options = unlimited(TransportKind::raw);
      options.seed = static_cast<std::uint64_t>(trial);
      const auto result = run_packet_flows(fabric, routes, options, flows);
      std::uint64_t busiest = 0;
      for (NodeId spine = 2 * width + 2; spine < 3 * width + 2; ++spine) {
        busiest = std::max(busiest, result.links[link_between(fabric, 2 * width, spine)].packets);
      }
      const auto c = static_cast<std::int64_t>(busiest / 20);
      busiest_sum += static_cast<double>(c);
      apart += c == 1 ? 1 : 0;
      // The slowest finishes at (c n + k - 1) tau + k d, up to c - 1 places in the last round.
      CHECK(last_end(result) == (20 * c + 4 - 1) * kTau + 4 * kDelay);
    }
    const double p = width == 2 ? 0.5 : 0.09375;  // V29
    const double mean = width == 2 ? 1.5 : 2.125; // V30
    CHECK(std::abs(apart - trials * p) <= 3 * std::sqrt(trials * p * (1 - p)));
    CHECK(busiest_sum / trials == within(mean, 0.05));
  }
}

} // namespace
} // namespace stepsim::links
