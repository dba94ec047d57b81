// The topology comes first, since flows, faults and buffers name its hosts and links; flows come
// after the network, since their sizes in packets depend on it.

#include "run/flows_run.hpp"

#include "document/json_text.hpp"
#include "run/flows_keys.hpp"
#include "scenario/scenario_fabric.hpp"
#include "scenario/scenario_tree.hpp"

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
      context.problems.add(*place, "flow", "unknown flow {}, the list has {} flows", flow,
                           file.flows.size());
      continue;
    }
    const double packets = std::ceil(file.flows[flow].bytes / file.packet.options.full_payload());
    if (seq >= packets) {
      context.problems.add(*place, "seq", "unknown packet {}, flow {} has {} packets", seq, flow,
                           base::shortest(packets));
    }
  }
}

// Entries are read in the order of the file, so that ids are positions. Where an entry has a
// problem, generated flows are no longer made: nothing will run, and the lists may be long.

constexpr std::int64_t kMostFlows = 10'000'000;

// Reads entries into `file.flows`.
struct Entries {
  const ParseContext& context;
  FlowsFile& file;
  std::uint32_t spines; // of a leaf-spine; 0 = another shape

  [[nodiscard]] bool packets() const { return file.level == NetworkLevel::packet; }

  // `size_bytes`, or `packets` that are full.
  // Packets of a flow are numbered with 32 bits, so that flows of more packets are refused here.
  double size(io::Fields& entry) const {
    const double payload = file.packet.options.full_payload();
    if (entry.has("size_bytes") == entry.has("packets")) {
      entry.refuse(entry.has("packets") ? "packets" : "size_bytes",
                   "required: either size_bytes or packets");
      (void)entry.any("size_bytes");
      (void)entry.any("packets");
      return 0;
    }
    if (entry.has("packets")) {
      return static_cast<double>(entry.required_integer("packets")) * payload;
    }
    const auto bytes = static_cast<double>(entry.required_integer("size_bytes"));
    if (packets() && payload > 0 && bytes > keys::kMostPacketsOfFlow * payload) {
      entry.refuse("size_bytes", "at the packet level at most 2^31 packets of {} bytes, got {}",
                   base::shortest(payload), io::shown(*entry.any("size_bytes")));
    }
    return bytes;
  }

  // `protect`: which packets are protected; empty = all.
  // Single packets are chosen by their number, so that a study can lose exactly the ones that it
  // means to.
  std::optional<links::FlowSpec::Protect> protect(io::Fields& entry) const {
    std::optional<links::FlowSpec::Protect> result;
    entry.object("protect", [&](io::Fields& fields) {
      const std::int64_t every = fields.integer("every");
      const std::int64_t offset = fields.integer("offset");
      if (fields.has("every") && every >= 1 && offset >= every) {
        fields.refuse("offset", "must be below every ({}), got {}", every, offset);
      }
      result = {static_cast<std::uint32_t>(every), static_cast<std::uint32_t>(offset)};
    });
    return result;
  }

  // The queue of a flow; the network has fewer queues than the row allows.
  std::uint8_t priority(io::Fields& entry) const {
    io::Range range = entry.row("priority").range;
    range.high = static_cast<double>(file.packet.options.queues - 1);
    return static_cast<std::uint8_t>(
        entry.optional_integer("priority", range).value_or(links::FlowSpec{}.priority));
  }

  // What single and generated flows have in common.
  // Weights and caps belong to the sharing of the flow level. Packets share a link by what their
  // transports do, and no transport takes either.
  links::FlowSpec common(io::Fields& entry) const {
    links::FlowSpec flow;
    flow.bytes = size(entry);
    flow.start_s = entry.number("start_s");
    flow.priority = priority(entry);
    flow.weight = entry.number("weight");
    if (packets() && flow.weight != 1) {
      entry.refuse("weight", "needs the flow model, got " + io::shown(*entry.any("weight")));
    }
    if (const auto cap = entry.optional_number("rate_cap_Bps")) {
      flow.cap_Bps = *cap;
      if (packets()) {
        entry.refuse("rate_cap_Bps",
                     "needs the flow model, got " + io::shown(*entry.any("rate_cap_Bps")));
      }
    }
    flow.protect = protect(entry);
    return flow;
  }

  // A host by name or number; empty after a problem.
  std::optional<links::NodeId> host(io::Fields& entry, std::string_view key) const {
    const io::Json* json = entry.given(key);
    if (json == nullptr) {
      entry.refuse(key, "required");
      return std::nullopt;
    }
    return named_or_numbered(*json, "host", file.fabric.node_names, file.fabric.hosts,
                             context.problems);
  }

  std::string node(links::NodeId id) const { return file.fabric.node_names[id]; }

  // `path`: links by number or name that lead one after the other from src to dst; empty after a
  // problem.
  // A path is followed from node to node, so that the first link that does not continue it is
  // named.
  std::vector<links::LinkId> path(io::Fields& entry, const links::FlowSpec& flow) const {
    std::vector<links::LinkId> links;
    links::NodeId at = flow.src;
    const std::size_t problems = context.problems.list().size();
    for (const io::Json& each : entry.array("path", false)) {
      const auto link = named_or_numbered(each, "link", file.fabric.link_names,
                                          file.fabric.links.size(), context.problems);
      if (!link) {
        return {};
      }
      if (file.fabric.links[*link].from != at) {
        context.problems.add(each, "link " + file.fabric.link_names[*link] +
                                       " does not continue the path, which is at " + node(at));
        return {};
      }
      at = file.fabric.links[*link].to;
      links.push_back(*link);
    }
    if (at != flow.dst && context.problems.list().size() == problems) {
      entry.refuse("path", "leads from " + node(flow.src) + " to " + node(at) + ", not to " +
                               node(flow.dst));
    }
    return links;
  }

  // `via`: which of the shortest paths, by its spine.
  // In a leaf-spine the number is that of a spine whatever hosts are meant; elsewhere it counts the
  // shortest paths between the two hosts.
  void via(io::Fields& entry, links::FlowSpec& flow) const {
    const auto number = entry.optional_integer("via");
    if (!number) {
      return;
    }
    flow.via = static_cast<std::uint32_t>(*number);
    const double ways = spines > 0 ? spines : file.routes->path_count(flow.src, flow.dst);
    if (static_cast<double>(*number) >= ways) {
      entry.refuse("via", "unknown spine {}, must be in [0, {}]", *number,
                   base::shortest(ways - 1));
      return;
    }
    try { // every switch on the way must have so many links on
      (void)links::flow_paths(file.fabric, *file.routes, {&flow, 1}, {});
    } catch (const SimulationError&) {
      entry.refuse("via", "no shortest way from {} to {} through spine {}", node(flow.src),
                   node(flow.dst), *number);
    }
  }

  // One flow from src to dst, by `path`, by `via` or by the routing of the network.
  void single(io::Fields& entry) const {
    links::FlowSpec flow = common(entry);
    const auto src = host(entry, "src");
    const auto dst = host(entry, "dst");
    // A sprayed flow takes all paths, packet by packet, and a path of its own contradicts that.
    const bool routed = entry.has("path") || entry.has("via");
    const links::LoadBalancing balancing = file.packet.options.load_balancing;
    if (entry.has("path") && entry.has("via")) {
      entry.refuse("via", "give either path or via");
    } else if (routed && links::is_sprayed(balancing)) {
      entry.refuse(entry.has("path") ? "path" : "via",
                   "has no meaning for load_balancing " +
                       std::string(links::kLoadBalancings[balancing]));
    }
    (void)entry.any("path");
    (void)entry.any("via");
    if (src && dst) {
      flow.src = *src;
      flow.dst = *dst;
      if (entry.has("path")) {
        flow.path = path(entry, flow);
      }
      via(entry, flow);
    }
    file.flows.push_back(std::move(flow));
  }

  // The flows of a rule, all alike but for their hosts.
  // Counts are checked before anything is made: all_to_all of a few thousand hosts has millions of
  // flows.
  void generated(io::Fields& entry) const {
    const FlowRule rule = entry.word("generate", kFlowRules);
    const std::int64_t hosts = file.fabric.hosts;
    const links::FlowSpec like = common(entry);
    std::int64_t senders = hosts;
    if (rule == FlowRule::incast) {
      senders = entry.required_integer("senders");
      if (senders >= hosts) {
        entry.refuse("senders", "needs senders + 1 hosts, the topology has {}, got {}", hosts,
                     io::shown(*entry.any("senders")));
      }
    }
    const std::int64_t count = rule == FlowRule::all_to_all ? hosts * (hosts - 1) : senders;
    if (count + static_cast<std::int64_t>(file.flows.size()) > kMostFlows) {
      entry.refuse("generate", "makes {} flows, a list has at most {}", count, kMostFlows);
    }
    if (!context.problems.empty()) {
      return; // also of earlier entries: nothing will run
    }
    switch (rule) {
    case FlowRule::incast:
      links::add_incast(file.flows, static_cast<std::uint32_t>(senders), like);
      break;
    case FlowRule::permutation:
      links::add_permutation(file.flows, file.fabric.hosts, static_cast<std::uint64_t>(file.seed),
                             like);
      break;
    case FlowRule::all_to_all:
      links::add_all_to_all(file.flows, file.fabric.hosts, like);
      break;
    }
  }
};

// Reads the keys `flows` and `start_jitter_s` into `file`, whose fabric, network and seed must be
// set already. Problems are added to the context.
void parse_flow_entries(io::Fields& top, const ParseContext& context, FlowsFile& file,
                        const links::Topology& topology) {
  std::uint32_t spines = 0;
  for (const auto& [key, value] : topology.preset_parameters) {
    spines = topology.preset == "leaf_spine" && key == "spines" ? static_cast<std::uint32_t>(value)
                                                                : spines;
  }
  const Entries entries{context, file, spines};
  for (const io::Json& each : top.array("flows", true)) {
    const io::Json* rule = each.find("generate");
    const bool generated = rule != nullptr && !rule->is_null();
    io::Fields entry(each, context.problems, generated ? keys::kGeneratedFlows : keys::kSingleFlow);
    if (generated) {
      entries.generated(entry);
    } else if (each.is_object()) {
      entries.single(entry);
    }
    entry.no_more();
  }
  const double jitter = top.number("start_jitter_s");
  // Drawn after all flows are known, by position, so that the jitter of a flow does not depend on
  // whether it was listed or generated.
  links::add_start_jitter(file.flows, jitter, static_cast<std::uint64_t>(file.seed));
  if (std::ranges::any_of(file.flows, [](const links::FlowSpec& flow) {
        return flow.start_s > links::kMostSeconds;
      })) {
    top.refuse("start_jitter_s", "a flow starts after 9e6 s");
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
