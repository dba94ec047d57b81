#pragma once
// A list of flows through a fabric (kind flows, PKT 6, 7.1), which runs at the flow level or packet
// by packet. Both levels take the same file:
//
//     {"topology": FILE | {...}, "network": {"model": "flow" | "packet", ...}, "flows": [...]}
//
// The id of a flow is its position, from 0, in the expanded list, in which a generated entry is
// replaced by all the flows that it makes.

#include "links/fabric/topology.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

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

// Reads the keys `flows` and `start_jitter_s` into `file`, whose fabric, network and seed must be
// set already. Problems are added to the context.
void parse_flow_entries(io::Fields& top, const ParseContext& context, FlowsFile& file,
                        const links::Topology& topology);

} // namespace stepsim::study
