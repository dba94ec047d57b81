#pragma once
// Runs a list of flows at its level: completion times of flows, use of links, counts of events.
// fct_s counts from the start of a flow to its completion at the receiver.

#include "document/fields/schema.hpp"
#include "events/timeline.hpp"
#include "links/packet/core.hpp"
#include "run/flows_file.hpp"
#include "run/network_result.hpp"

namespace stepsim::study {

// Members that only the packet level fills are empty at the flow level.
struct FlowResult {
  // With transport raw, which may lose packets, up to the last delivery; empty = nothing delivered.
  std::optional<double> fct_s;
  double delivered_bytes{};
  double lost_bytes{}; // size of the flow - delivered_bytes
  struct Packets {
    // Numbers of packets sent again, timeouts, packets that arrived more than once, and rounds of
    // probes (transport dlcp).
    std::uint32_t retransmissions{}, timeouts{}, duplicates{}, probe_rounds{};
    std::int64_t wasted_bytes{}; // bytes that arrived after the flow was complete
  };
  std::optional<Packets> packets;
};

struct FlowsResult {
  std::vector<FlowResult> flows;            // [id]
  std::vector<LinkResult> links;            // [link]
  double elapsed_s{};                       // from the start of the run to its last event
  std::optional<FlowStatistics> statistics; // over the flows with an fct_s; empty if none has one
  std::optional<std::array<links::PacketCounts, links::kDropClasses>> classes; // [links::DropClass]
  struct Background {
    std::uint64_t started{}, completed{};     // flows, by the end of the last flow of the list
    std::optional<FlowStatistics> statistics; // over the completed flows; empty if there are none
  };
  // Empty without background load. `flows` and `statistics` above do not contain its flows.
  std::optional<Background> background;
  std::uint64_t events{};
  // Number of links that packets crossed, summed over all packets (packet level); number of times
  // that the rates of flows were computed (flow level).
  std::optional<std::uint64_t> packet_hops, solves;
  std::vector<std::string> warnings; // of the file, and of the run
};

// Runs the flows at `file.level`. Throws SimulationError if flows can never end, or are unfinished
// at file.simulated_limit_s.
[[nodiscard]] FlowsResult run_flow_list(const FlowsFile& file);

// An estimate of the CPU seconds of run_flow_list(file).
[[nodiscard]] double estimated_seconds(const FlowsFile& file);

// [id] the path of every flow: the one that `via` or `path` names, else all shortest paths at once
// if the load balancing sprays packets, else the one that ECMP gives its connection.
[[nodiscard]] std::vector<links::FlowPath> flow_list_paths(const FlowsFile& file);

// The output of `stepsim flows --json`. One table of keys, in flows_result.cpp, makes both the
// writer and the JSON Schema of kind flows_result.

// The output without the key `meta`, which the command adds.
[[nodiscard]] io::Json flows_tree(const FlowsFile& file, const FlowsResult& result);

[[nodiscard]] io::FileKind flows_result_kind();

// Draws a list of flows as a timeline: one span per flow at its source, and counters of the flows
// in flight on the busiest links.

// The timeline of `result`. Its nodes are the nodes of the fabric, by number; times are seconds
// from the start of the run. Flows whose completion time is missing or 0 have no span.
[[nodiscard]] events::Timeline flows_timeline(const FlowsFile& file, const FlowsResult& result);

// Warns of packet losses by incast, which the flow level does not simulate. If N hosts start a TCP
// flow to the same host together, their first windows overflow the buffer of the last port if
//
//     W (N - 1) + 1 > Q        W packets per first window, Q packets of buffer
//
// One window does not fill the buffer, because packets of one host arrive no faster than the port
// sends them. Source: PKT 4, 6.4.

// The warning for the host whose buffer overflows most. Packets that the port has sent before the
// next flow starts no longer count. Empty if no buffer overflows, if the file names no transport or
// one other than reno and dctcp, and if the buffer has no limit.
[[nodiscard]] std::optional<std::string> incast_risk(const FlowsFile& file);

} // namespace stepsim::study
