#pragma once
// A list of flows on the packet network: each is one message on a connection of its own, numbered
// by its position in the list (PKT 7.1).
//   fct = completion at the receiver - start; raw flows that lost packets: last delivery - start
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "net/packet/background.hpp"
#include "net/packet/packet_network.hpp"

namespace stepsim::net {

struct PacketFlow {
  NodeId src{}, dst{};
  std::int64_t size_bytes{};
  double start_s{}; // from the begin of the run
  std::uint8_t queue = 1;
  double loss_bound = 0; // dlcp
  DropRule drop_rule{};
  std::vector<LinkId> path{}; // load balancing explicit_path; empty = ECMP
};

// What became of all flows, and what the links carried, from 0 to `end`.
struct PacketFlowsResult {
  std::vector<MessageResult> flows;                 // [flow]
  std::vector<MessageResult> background;            // in the order of starts
  std::vector<LinkCounters> links;                  // [link]
  std::array<PacketCounts, kDropClasses> classes{}; // data packets, by drop class
  Picoseconds end{};                                // of the last event
  std::uint64_t events{}, packet_hops{};
};

// Throws SimulationError when a flow can never end or the limit of time is passed. With a
// background load the run ends with the last flow of the list; connections of the background are
// numbered after those of the list.
[[nodiscard]] PacketFlowsResult run_packet_flows(const Fabric& fabric, const Routes& routes,
                                                 const PacketOptions& options,
                                                 std::span<const PacketFlow> flows,
                                                 const BackgroundOptions& background = {});

// The shortest path through a node that is not a host, such as a spine: up to `via`, then down.
// Throws SimulationError if none of the shortest ways passes it.
[[nodiscard]] std::vector<LinkId> path_via(const Fabric& fabric, const Routes& routes, NodeId src,
                                           NodeId dst, NodeId via);

} // namespace stepsim::net
