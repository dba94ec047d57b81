#pragma once
// Lists of flows through a fabric, at the flow level or packet by packet (PKT 6, 7.1): from a file
// of kind `flows` to completion times and the use of links.
//
//     {"topology": FILE | {...}, "network": {"model": "flow" | "packet", ...}, "flows": [...]}
//
// The id of a flow is its position in the expanded list. fct_s counts from the hand-over of a flow
// to its completion at the receiver. Both levels take the same file.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/words.hpp"
#include "engine/timeline.hpp"
#include "net/fabric/fabric.hpp"
#include "net/fabric/routes.hpp"
#include "net/flow/flow_list.hpp"
#include "net/packet/core.hpp"
#include "run/network_result.hpp"
#include "scenario/files.hpp"
#include "scenario/packet/packet_settings.hpp"
#include "scenario/scenario.hpp"
#include "json/json.hpp"

namespace stepsim::study {

enum class NetworkLevel { flow, packet };
inline constexpr auto kNetworkLevels =
    base::words<NetworkLevel>({{NetworkLevel::flow, "flow"}, {NetworkLevel::packet, "packet"}});

struct FlowsFile {
  std::string name;
  net::Fabric fabric;
  std::optional<net::Routes> routes; // through the fabric; always there
  NetworkLevel level = NetworkLevel::flow;
  bool count_headers = false; // flow level: wire bytes instead of payload
  PacketSettings packet;
  std::vector<net::FlowSpec> flows; // expanded, with the jitter of starts
  std::int64_t seed = 1;
  double simulated_limit_s = 1000;
  std::vector<std::string> warnings;
};

// Throws InputError with all problems (PKT 13).
[[nodiscard]] FlowsFile parse_flows(const io::Json& tree, Files& files,
                                    Leftovers leftovers = Leftovers::refuse);

// What exists at the packet level only is empty at the flow level.
struct FlowResult {
  std::optional<double> fct_s; // empty = nothing was delivered (raw)
  double delivered_bytes{};
  double lost_bytes{}; // size - delivered
  struct Packets {
    std::uint32_t retransmissions{}, timeouts{}, duplicates{}, probe_rounds{};
    std::int64_t wasted_bytes{};
  };
  std::optional<Packets> packets;
};

struct FlowsResult {
  std::vector<FlowResult> flows;
  std::vector<LinkResult> links; // [link]
  double elapsed_s{};            // until the last event
  std::optional<FlowStatistics> statistics;
  std::optional<std::array<net::PacketCounts, net::kDropClasses>> classes;
  struct Background {
    std::uint64_t started{}, completed{}; // by the end of the last flow of the list
    std::optional<FlowStatistics> statistics;
  };
  std::optional<Background> background; // its flows are in no other number above
  std::uint64_t events{};
  std::optional<std::uint64_t> packet_hops, solves;
  std::vector<std::string> warnings; // of the file, and of the run
};

// Throws SimulationError where flows can never end, or are unfinished at the limit of time.
[[nodiscard]] FlowsResult run_flow_list(const FlowsFile& file);

// Keys of the interface; links by number and name.
[[nodiscard]] io::Json flows_tree(const FlowsFile& file, const FlowsResult& result);

// A span per flow at its source, and how many flows are under way on the links used most.
[[nodiscard]] engine::Timeline flows_timeline(const FlowsFile& file, const FlowsResult& result);

// With TCP configured: whether the first windows of flows to one host overflow the buffer of its
// port. Flows of different hosts that start together do if W (N - 1) + 1 > Q (F3, PKT 4; 6.4); what
// the port has sent by the start of the next flow is taken off. The flow level knows no losses, so
// it is too fast then. Empty = no risk.
[[nodiscard]] std::optional<std::string> incast_risk(const FlowsFile& file);

} // namespace stepsim::study
