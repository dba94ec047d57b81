#pragma once
// Settings shared by the tests of the packet level. C10 of PKT 14: 10 Gbit/s, 1 us per link,
// packets of 1500 bytes (tau = 1.2 us), control packets of 64 bytes.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "links/fabric/routes.hpp"
#include "links/fabric/topology.hpp"
#include "links/packet/packet_network.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::links {

using stepsim::testing::within;

inline constexpr LinkSpeed kLink10G{.latency_s = 1e-6, .bandwidth_Bps = 1.25e9};
inline constexpr Picoseconds kTau = 1'200'000;
inline constexpr Picoseconds kDelay = 1'000'000;
inline constexpr Picoseconds kControl = 51'200;
inline constexpr Picoseconds kMillisecond = 1'000'000'000;
inline constexpr std::int64_t kPayload = 1460;

inline Picoseconds us(double microseconds) { return std::llround(microseconds * 1e6); }

inline PacketFlowsResult run(const Fabric& fabric, const PacketOptions& options,
                             const std::vector<PacketFlow>& flows) {
  const Routes routes(fabric);
  return run_packet_flows(fabric, routes, options, flows);
}

// Hosts 0 .. n - 1 send to host n of a star.
inline std::vector<PacketFlow> incast(std::uint32_t senders, std::int64_t bytes) {
  std::vector<PacketFlow> flows;
  for (NodeId host = 0; host < senders; ++host) {
    flows.push_back({.src = host, .dst = senders, .size_bytes = bytes});
  }
  return flows;
}

inline Picoseconds last_end(const PacketFlowsResult& result) {
  Picoseconds last = 0;
  for (const MessageResult& flow : result.flows) {
    last = std::max(last, flow.complete() ? flow.end : 0);
  }
  return last;
}

inline std::uint64_t all_drops(const PacketFlowsResult& result, DropCause cause) {
  std::uint64_t sum = 0;
  for (const LinkCounters& link : result.links) {
    sum += link.drops[static_cast<std::size_t>(cause)];
  }
  return sum;
}

inline std::uint32_t max_queue_of_switches(const Fabric& fabric, const PacketFlowsResult& result) {
  std::uint32_t most = 0;
  for (LinkId link = 0; link < fabric.links.size(); ++link) {
    if (!fabric.is_host(fabric.links[link].from)) {
      most = std::max(most, result.links[link].max_queue);
    }
  }
  return most;
}

inline PacketOptions with(TransportKind kind) {
  PacketOptions options;
  options.transport.kind = kind;
  return options;
}

inline PacketOptions unlimited(TransportKind kind) {
  PacketOptions options = with(kind);
  options.buffer.scope = BufferScope::unlimited;
  return options;
}

inline LinkId link_between(const Fabric& fabric, NodeId from, NodeId to) {
  for (LinkId link = 0; link < fabric.links.size(); ++link) {
    if (fabric.links[link].from == from && fabric.links[link].to == to) {
      return link;
    }
  }
  return kNone;
}

// The first shortest path, in the order of Routes::next_links(), that passes the switch `via`.
inline std::vector<LinkId> path_via(const Fabric& fabric, const Routes& routes, NodeId src,
                                    NodeId dst, NodeId via) {
  std::vector<LinkId> path;
  const auto search = [&](const auto& self, NodeId node, bool passed) -> bool {
    if (node == dst) {
      return passed;
    }
    for (const LinkId link : routes.next_links(node, dst)) {
      const NodeId next = fabric.links[link].to;
      path.push_back(link);
      if (self(self, next, passed || next == via)) {
        return true;
      }
      path.pop_back();
    }
    return false;
  };
  REQUIRE(search(search, src, src == via));
  return path;
}

} // namespace stepsim::links
