// What holds in every run (PKT 10), seen from outside: random flows under every transport, choice
// of paths, discipline and kind of buffer. Debug builds assert the same inside, and more.
#include <doctest/doctest.h>

#include "base/random.hpp"
#include "links/packet_scenes.hpp"

namespace stepsim::links {
namespace {

constexpr std::array kTransports{TransportKind::raw,   TransportKind::window,  TransportKind::reno,
                                 TransportKind::dctcp, TransportKind::pfabric, TransportKind::dlcp};
constexpr std::array kBalancing{LoadBalancing::ecmp, LoadBalancing::spray_random,
                                LoadBalancing::spray_round_robin, LoadBalancing::explicit_path};
constexpr std::int64_t kBytesOfPort = 12 * 1500;
constexpr std::int64_t kBytesOfPool = 60 * 1500;

// Every buffer of PKT 3.8; `packets` = the most that a port can hold.
struct Buffer {
  BufferOptions options;
  std::uint32_t packets;
};
const std::array<Buffer, 4> kBuffers{
    Buffer{{.packets = 10}, 10},
    // ACKs of 40 bytes could fill it
    Buffer{{.packets = kNoThreshold, .bytes = kBytesOfPort}, kBytesOfPort / 40},
    Buffer{{.scope = BufferScope::shared, .bytes = kBytesOfPool, .alpha = 0.5}, kBytesOfPool / 40},
    Buffer{{.scope = BufferScope::unlimited}, kNoThreshold}};

struct Scene {
  PacketOptions options;
  std::uint32_t cap = kNoThreshold;
  std::vector<PacketFlow> flows;
};

Fabric fabric_of(std::uint64_t seed) {
  const double uplink = seed % 2 == 0 ? 1.25e9 : 0.6e9;
  return leaf_spine({.leaves = 3,
                     .hosts_per_leaf = 3,
                     .spines = 2,
                     .host = kLink10G,
                     .uplink = {.latency_s = 1e-6, .bandwidth_Bps = uplink}});
}

Scene scene_of(std::uint64_t seed, const Fabric& fabric, const Routes& routes) {
  const auto draw = [seed](std::uint64_t what, std::uint64_t below) {
    return base::pick(base::hash(99, seed, what), below);
  };
  Scene scene;
  PacketOptions& options = scene.options;
  options.seed = seed;
  options.transport.kind = kTransports[seed % 6];
  options.load_balancing = kBalancing[seed / 6 % 4];
  const Buffer& buffer = kBuffers[seed / 24 % 4];
  const TransportKind kind = options.transport.kind;
  if (kind != TransportKind::pfabric && seed / 96 % 2 == 1) {
    options.queue_discipline = QueueDiscipline::flow_round_robin;
  }
  if (kind == TransportKind::window) {
    options.buffer.scope = BufferScope::unlimited;
  } else {
    options.buffer = buffer.options;
    scene.cap = buffer.packets;
    if (draw(1, 2) == 0) {
      options.link_loss = {{static_cast<LinkId>(draw(2, fabric.links.size())), 0.05}};
    }
  }
  options.mark_packets = 5;
  options.drop_droppable = 6;
  options.transport.tcp.sack = draw(3, 2) == 0;
  options.transport.tcp.rto_min_s = 1e-3;
  options.transport.dlcp.rate_control = static_cast<RateControl>(draw(4, 3));
  options.transport.dlcp.early_stop = draw(5, 3) != 0;
  options.transport.dlcp.control_lossy = draw(6, 4) == 0;
  for (std::uint32_t flow = 0; flow < 14; ++flow) {
    const std::uint64_t own = base::hash(seed, flow);
    PacketFlow next{.src = flow % 9, .dst = static_cast<NodeId>((flow + 1 + own % 8) % 9)};
    next.size_bytes = static_cast<std::int64_t>(own / 8 % 60'000);
    next.start_s = own % 3 == 0 ? 0 : base::u01(seed, 3, flow) * 5e-5;
    next.queue = kind == TransportKind::pfabric ? 1 : static_cast<std::uint8_t>(1 + own / 7 % 3);
    next.loss_bound = 0.1 * static_cast<double>(own / 11 % 3);
    if (own / 13 % 2 == 0 && kind != TransportKind::window) { // it never repairs a drop
      next.drop_rule = {.kind = DropRule::Kind::every, .every = 2, .offset = 0};
    }
    if (options.load_balancing == LoadBalancing::explicit_path && next.src / 3 != next.dst / 3) {
      next.path = path_via(fabric, routes, next.src, next.dst,
                           12 + static_cast<NodeId>(own / 17 % 2)); // 9 hosts, 3 leaves, spines
    }
    scene.flows.push_back(next);
  }
  return scene;
}

// F1, F4: `need` packets leave the host one after the other; the last of them, as short as the
// shortest, crosses the links of the path, as fast as the fastest.
Picoseconds bound(const MessageResult& flow, const PacketFlow& spec) {
  if (flow.need == 0) {
    return 0;
  }
  const std::int64_t links = spec.src / 3 == spec.dst / 3 ? 2 : 4;
  const std::int64_t last = flow.size_bytes - (flow.packets - 1) * kPayload;
  return (flow.need - 1) * kTau + links * (transmission(last + 40, 1'250'000'000) + kDelay);
}

auto everything(const PacketFlowsResult& result) {
  std::vector<std::uint64_t> all{result.events, result.packet_hops};
  for (const MessageResult& flow : result.flows) {
    for (const auto value : {static_cast<std::uint64_t>(flow.end), std::uint64_t{flow.sent_packets},
                             std::uint64_t{flow.delivered_packets}}) {
      all.push_back(value);
    }
  }
  for (const LinkCounters& link : result.links) {
    all.insert(all.end(), {link.packets, link.bytes, link.marks});
    all.insert(all.end(), link.drops.begin(), link.drops.end());
  }
  return all;
}

void check_flows(const Scene& scene, const PacketFlowsResult& result) {
  const TransportKind kind = scene.options.transport.kind;
  for (std::size_t id = 0; id < result.flows.size(); ++id) {
    CAPTURE(id);
    const MessageResult& flow = result.flows[id];
    CHECK(flow.settled);
    CHECK(flow.delivered_bytes <= flow.size_bytes);
    CHECK(flow.lost_network_bytes >= 0);
    if (kind != TransportKind::raw) {
      CHECK(flow.complete());
    }
    if (flow.complete() && flow.lost_network_bytes == 0) {
      CHECK(flow.fct() >= bound(flow, scene.flows[id]));
    }
    if (kind == TransportKind::dlcp) {
      CHECK(flow.delivered_packets >= flow.need);
      CHECK(flow.fct() >= bound(flow, scene.flows[id]));
      CHECK(flow.lost_stopped_bytes() >= 0);
      CHECK(flow.timeouts == 0);
    } else if (kind == TransportKind::raw) {
      CHECK(flow.delivered_bytes + flow.lost_network_bytes == flow.size_bytes);
    } else {
      CHECK(flow.delivered_bytes == flow.size_bytes);
    }
  }
}

void check_links(const Scene& scene, const Fabric& fabric, const PacketFlowsResult& result) {
  const TransportKind kind = scene.options.transport.kind;
  std::uint64_t hops = 0;
  for (LinkId id = 0; id < result.links.size(); ++id) {
    CAPTURE(id);
    const LinkCounters& link = result.links[id];
    const FabricLink& at = fabric.links[id];
    hops += link.packets;
    CHECK(link.busy <= result.end);
    // Every transmission is rounded up to a picosecond.
    const double exact = static_cast<double>(link.bytes) / at.bandwidth_Bps * 1e12;
    CHECK(static_cast<double>(link.busy) >= exact - 1);
    CHECK(static_cast<double>(link.busy) <= exact + static_cast<double>(link.packets) + 1);
    if (fabric.is_host(at.from)) {
      CHECK(link.drops[static_cast<std::size_t>(DropCause::buffer)] == 0);
      CHECK(link.drops[static_cast<std::size_t>(DropCause::threshold)] == 0);
      CHECK(link.marks == 0);
    } else if (kind == TransportKind::pfabric) {
      CHECK(link.max_queue <= 24 + 1 + std::uint64_t{scene.cap}); // its data, and ACKs
    } else {
      CHECK(link.max_queue <= scene.cap);
    }
  }
  CHECK(hops == result.packet_hops);
}

TEST_CASE("packet level: invariants of every transport, path choice, discipline and buffer") {
  for (std::uint64_t seed = 0; seed < 2 * 192; ++seed) {
    CAPTURE(seed);
    const Fabric fabric = fabric_of(seed);
    const Routes routes(fabric);
    const Scene scene = scene_of(seed, fabric, routes);
    const auto result = run_packet_flows(fabric, routes, scene.options, scene.flows);
    check_flows(scene, result);
    check_links(scene, fabric, result);
    std::uint64_t sent = 0;
    std::uint64_t ended_badly = 0;
    for (const PacketCounts& counts : result.classes) {
      CHECK(counts.sent == counts.delivered + counts.dropped + counts.vanished);
      sent += counts.sent;
      ended_badly += counts.dropped + counts.vanished;
    }
    std::uint64_t sent_of_flows = 0;
    std::uint64_t arrived_of_flows = 0;
    for (const MessageResult& flow : result.flows) {
      sent_of_flows += flow.sent_packets;
      arrived_of_flows += flow.delivered_packets + flow.duplicates + flow.wasted_packets;
    }
    CHECK(sent == sent_of_flows);
    CHECK(sent == arrived_of_flows + ended_badly);
    CHECK(everything(run_packet_flows(fabric, routes, scene.options, scene.flows)) ==
          everything(result));
  }
}

TEST_CASE("packet level: time never decreases, whoever looks") {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    CAPTURE(seed);
    const Fabric fabric = fabric_of(seed);
    const Routes routes(fabric);
    const Scene scene = scene_of(seed, fabric, routes);
    PacketNetwork network(fabric, routes, scene.options);
    for (std::uint32_t flow = 0; flow < scene.flows.size(); ++flow) {
      const PacketFlow& own = scene.flows[flow];
      network.hand_over(
          {.connection = network.open({.src = own.src, .dst = own.dst, .number = flow}),
           .size_bytes = own.size_bytes,
           .loss_bound = own.loss_bound,
           .start = to_picoseconds(own.start_s)});
    }
    Picoseconds before = 0;
    std::size_t ended = 0;
    std::vector<MessageId> done;
    for (Picoseconds until = 0; network.next_time() != kNeverPs; until += 700'000) {
      while (network.advance(until, done)) {
        CHECK(network.now() >= before);
        before = network.now();
        for (const MessageId message : done) {
          const MessageResult& result = network.result(message);
          // Raw flows that lost packets ended with their last delivery.
          CHECK((result.end == network.now() || result.lost_network_bytes > 0));
        }
        ended += done.size();
        done.clear();
      }
      CHECK(network.now() <= until);
    }
    CHECK(ended == scene.flows.size());
  }
}

TEST_CASE("pfabric: a full pool drops what comes") {
  const Fabric fabric = star(4, kLink10G);
  PacketOptions options = with(TransportKind::pfabric);
  options.buffer = {.scope = BufferScope::shared, .bytes = 4 * 1500, .alpha = 1};
  const auto result = run(fabric, options, incast(3, 50 * kPayload));
  for (const MessageResult& flow : result.flows) {
    CHECK(flow.delivered_bytes == flow.size_bytes);
  }
  CHECK(max_queue_of_switches(fabric, result) <= 4 * 1500 / 40);
  CHECK(all_drops(result, DropCause::buffer) > 0);
}

} // namespace
} // namespace stepsim::links
