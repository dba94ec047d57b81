// The topology comes first, since flows, faults and buffers name its hosts and links; flows come
// after the network, since their sizes in packets depend on it.
#include "run/flows_file.hpp"

#include <fmt/core.h>

#include "document/json_text.hpp"
#include "run/flows_keys.hpp"
#include "scenario/defaults.hpp"
#include "scenario/scenario_fabric.hpp"

namespace stepsim::study {

namespace {

// Empty after a problem, or where a part of the file has one: its topology is not read then.
// Without a topology nothing else can be judged, since hosts and links are named by it.
std::optional<links::Topology> parse_fabric(io::Fields& top, const ParseContext& context) {
  const io::Json* json = top.given("topology");
  if (json == nullptr) {
    top.refuse("topology", "required: a file or an object");
    return std::nullopt;
  }
  return parse_topology_field(*json, context);
}

// `network`: the level and the packet block. The packet level needs a transport.
// The packet block is read at both levels; the flow level takes paths, headers and loss bounds from
// it.
void parse_network(io::Fields& top, const ParseContext& context, FlowsFile& file) {
  top.object("network", [&](io::Fields& network) {
    file.level = network.word("model", kNetworkLevels);
    file.count_headers = network.boolean("count_headers");
    file.packet = parse_packet(network.any("packet"), context, file.fabric);
    if (file.level == NetworkLevel::packet) {
      check_packet_links(*top.any("topology"), context, file.fabric);
      require_transport(network.json(), context, file.packet);
    }
  });
}

// Refuses faults of packets that do not exist; the list of flows is known by now.
void check_faults(const io::Json& tree, const ParseContext& context, const FlowsFile& file) {
  const std::vector<links::DropOnce>& drops = file.packet.options.drop_once;
  for (std::size_t i = 0; i < drops.size(); ++i) {
    const io::Json* place =
        io::resolve(tree, "/network/packet/faults/drop_packets_once/" + std::to_string(i));
    const auto& [link, flow, seq, nth] = drops[i];
    if (flow >= file.flows.size()) {
      context.problems.add(
          *place, "flow",
          fmt::format("unknown flow {}, the list has {} flows", flow, file.flows.size()));
      continue;
    }
    const double packets = std::ceil(file.flows[flow].bytes / file.packet.options.full_payload());
    if (seq >= packets) {
      context.problems.add(*place, "seq",
                           fmt::format("unknown packet {}, flow {} has {} packets", seq, flow,
                                       base::shortest(packets)));
    }
  }
}

} // namespace

FlowsFile parse_flows(const io::Json& tree, Files& files, Leftovers leftovers) {
  io::Problems problems;
  const ParseContext context{problems, files, leftovers};
  io::Fields top(tree, problems, keys::kFlows);
  top.header("flows");
  FlowsFile file;
  file.name = top.string("name", "");
  file.seed = top.integer("seed");
  top.object("limits",
             [&](io::Fields& limits) { file.simulated_limit_s = limits.number("simulated_s"); });
  const bool allow_unusual = top.boolean("allow_unusual");
  // Unusual numbers are looked for in the tree as written, before any of them is used.
  for (const std::string_view part : {"topology", "network"}) {
    if (const io::Json* found = tree.find(part)) {
      refuse_unusual(*found, allow_unusual, problems);
    }
  }
  const std::optional<links::Topology> topology = parse_fabric(top, context);
  if (!topology) {
    problems.throw_if_any();
  }
  file.fabric = links::fabric_of(*topology);
  file.routes.emplace(file.fabric);
  parse_network(top, context, file);
  parse_flow_entries(top, context, file, *topology);
  top.no_more();
  problems.throw_if_any();
  check_faults(tree, context, file);
  problems.throw_if_any();
  // Seed and limit belong to the file as a whole; the packet block has no keys for them.
  file.packet.options.seed = static_cast<std::uint64_t>(file.seed);
  file.packet.options.simulated_s = file.simulated_limit_s;
  file.warnings = topology->warnings;
  if (file.level == NetworkLevel::packet) {
    file.warnings.insert(file.warnings.end(), file.packet.warnings.begin(),
                         file.packet.warnings.end());
  }
  return file;
}

} // namespace stepsim::study
