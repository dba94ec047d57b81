#pragma once
// Runs a list of flows at its level: completion times of flows, use of links, counts of events.
// fct_s counts from the start of a flow to its completion at the receiver.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flows/flows_file.hpp"
#include "net/flow/flow_path.hpp"
#include "net/packet/core.hpp"
#include "run/network_result.hpp"

namespace stepsim::study {

// What exists at the packet level only is empty at the flow level.
struct FlowResult {
  std::optional<double> fct_s; // empty = nothing was delivered, as with transport raw
  double delivered_bytes{};
  double lost_bytes{}; // size - delivered
  struct Packets {
    // Packets sent again, timeouts, packets that arrived more than once, rounds of probes (dlcp).
    std::uint32_t retransmissions{}, timeouts{}, duplicates{}, probe_rounds{};
    std::int64_t wasted_bytes{}; // arrived after the flow was complete
  };
  std::optional<Packets> packets;
};

struct FlowsResult {
  std::vector<FlowResult> flows;            // [id]
  std::vector<LinkResult> links;            // [link]
  double elapsed_s{};                       // from the start of the run to its last event
  std::optional<FlowStatistics> statistics; // of the flows with an fct_s; empty if none has one
  std::optional<std::array<net::PacketCounts, net::kDropClasses>> classes; // by net::DropClass
  struct Background {
    std::uint64_t started{}, completed{}; // by the end of the last flow of the list
    std::optional<FlowStatistics> statistics;
  };
  // Empty without background load. Its flows are in no number of flows above.
  std::optional<Background> background;
  std::uint64_t events{};
  // Links that packets crossed, summed over packets (packet level); allocations of bandwidth (flow
  // level).
  std::optional<std::uint64_t> packet_hops, solves;
  std::vector<std::string> warnings; // of the file, and of the run
};

// Throws SimulationError where flows can never end, or are unfinished at the limit of time.
[[nodiscard]] FlowsResult run_flow_list(const FlowsFile& file);

// CPU seconds of the run, about.
[[nodiscard]] double estimated_seconds(const FlowsFile& file);

// The path of every flow, by id: the one that it asks for, a sprayed one, or the one that ECMP
// gives its connection.
[[nodiscard]] std::vector<net::FlowPath> flow_list_paths(const FlowsFile& file);

} // namespace stepsim::study
