#pragma once
// Runs a list of flows on the packet network. Each flow is one message on a separate connection,
// numbered by its index in the list (PKT 7.1).
//   fct = completion at the receiver - start; raw flows that lost packets: last delivery - start

#include "links/packet/packet_network.hpp"

namespace stepsim::links {

struct PacketFlow {
  NodeId src{}, dst{};
  std::int64_t size_bytes{};
  double start_s{}; // from the start of the run
  std::uint8_t queue = 1;
  double loss_bound = 0; // used by dlcp (bounded-loss transport)
  DropRule drop_rule{};
  std::vector<LinkId> path{}; // for load balancing explicit_path; empty = ECMP
};

// The outcome of all flows and the use of the links, from 0 to `end`.
struct PacketFlowsResult {
  std::vector<MessageResult> flows;                 // [flow]
  std::vector<MessageResult> background;            // in the order of starts
  std::vector<LinkCounters> links;                  // [link]
  std::array<PacketCounts, kDropClasses> classes{}; // data packets, by drop class
  Picoseconds end{};                                // time of the last event
  std::uint64_t events{}, packet_hops{};
};

// Runs the flows. With a background load the run ends with the last flow of the list; connections
// of the background are numbered after the list. Throws SimulationError if a flow can never end, or
// if the time limit is exceeded, and as PacketNetwork does for invalid options.
[[nodiscard]] PacketFlowsResult run_packet_flows(const Fabric& fabric, const Routes& routes,
                                                 const PacketOptions& options,
                                                 std::span<const PacketFlow> flows,
                                                 const BackgroundOptions& background = {});

} // namespace stepsim::links
