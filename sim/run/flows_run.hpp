#pragma once
// Runs a list of flows at its level: completion times of flows, use of links, counts of events.
// fct_s counts from the start of a flow to its completion at the receiver.

#include "document/fields/schema.hpp"
#include "events/timeline.hpp"
#include "links/fabric/topology.hpp"
#include "run/network_result.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// A list of flows through a fabric (kind flows, PKT 6, 7.1), which runs at the flow level or packet
// by packet. Both levels take the same file:
//
//     {"topology": FILE | {...}, "network": {"model": "flow" | "packet", ...}, "flows": [...]}
//
// The id of a flow is its position, from 0, in the expanded list, in which a generated entry is
// replaced by all the flows that it makes.

enum class NetworkLevel { flow, packet };
inline constexpr auto kNetworkLevels = base::words<NetworkLevel>();

struct FlowsFile {
  std::string name;
  links::Fabric fabric;
  std::optional<links::Routes> routes; // paths through `fabric`; never empty
  NetworkLevel level = NetworkLevel::flow;
  bool count_headers = false; // flow level: wire bytes instead of payload
  PacketSettings packet;
  std::vector<links::FlowSpec> flows; // expanded; starts include the jitter
  std::int64_t seed = 1;
  double simulated_limit_s = 1000; // a run that lasts longer in simulated time is an error
  std::vector<std::string> warnings;
};

// Throws InputError with all problems (PKT 13). `leftovers` decides whether keys of the packet
// block that the transport does not read are problems.
[[nodiscard]] FlowsFile parse_flows(const io::Json& tree, Files& files,
                                    Leftovers leftovers = Leftovers::refuse);

// Reads the entries of a list of flows: single flows, and rules that generate many (PKT 7.1).

// incast: hosts 0 .. senders - 1 send to host `senders`; permutation: every host sends to one other
// host and receives from one, drawn with the seed of the file; all_to_all: every host sends to
// every other.
enum class FlowRule { incast, permutation, all_to_all };
inline constexpr auto kFlowRules = base::words<FlowRule>();

// Members that only the packet level fills are empty at the flow level.
struct FlowResult {
  // With transport raw, which may lose packets, up to the last delivery; empty = nothing delivered.
  std::optional<double> fct_s{};
  double delivered_bytes{};
  double lost_bytes{}; // size of the flow - delivered_bytes
  struct Packets {
    // Numbers of packets sent again, timeouts, packets that arrived more than once, and rounds of
    // probes (transport dlcp).
    std::uint32_t retransmissions{}, timeouts{}, duplicates{}, probe_rounds{};
    std::int64_t wasted_bytes{}; // bytes that arrived after the flow was complete
  };
  std::optional<Packets> packets{};
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
