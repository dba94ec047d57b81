#pragma once
// A list of flows through a fabric (kind flows, PKT 6, 7.1), which runs at the flow level or packet
// by packet. Both levels take the same file:
//
//     {"topology": FILE | {...}, "network": {"model": "flow" | "packet", ...}, "flows": [...]}
//
// The id of a flow is its position, from 0, in the expanded list, in which a generated entry is
// replaced by all the flows that it makes.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/words.hpp"
#include "document/json.hpp"
#include "links/fabric/fabric.hpp"
#include "links/fabric/routes.hpp"
#include "links/flow/flow_run.hpp"
#include "scenario/files.hpp"
#include "scenario/packet/packet_settings.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

enum class NetworkLevel { flow, packet };
inline constexpr auto kNetworkLevels =
    base::words<NetworkLevel>({{NetworkLevel::flow, "flow"}, {NetworkLevel::packet, "packet"}});

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

} // namespace stepsim::study
