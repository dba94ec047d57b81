// The list of flows: single ones and generated ones (PKT 7.1).
#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/number_text.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "flows/flows_parts.hpp"
#include "net/flow/flow_run.hpp"
#include "net/packet/time.hpp"

namespace stepsim::study {

namespace {

enum class Pattern { incast, permutation, all_to_all };
constexpr auto kPatterns = base::words<Pattern>({{Pattern::incast, "incast"},
                                                 {Pattern::permutation, "permutation"},
                                                 {Pattern::all_to_all, "all_to_all"}});
constexpr double kMostPackets = 0x1p31;

struct Entries {
  const ParseContext& context;
  FlowsFile& file;
  std::uint32_t spines; // of a leaf-spine; 0 = another shape

  [[nodiscard]] bool packets() const { return file.level == NetworkLevel::packet; }

  void required(const io::Json& parent, std::string_view key) const {
    context.problems.add(parent, key, "required");
  }

  // `size_bytes`, or `packets` that are full.
  double size(io::Fields& entry) const {
    const double payload = file.packet.options.full_payload();
    if (entry.has("size_bytes") == entry.has("packets")) {
      context.problems.add(entry.json(), entry.has("packets") ? "packets" : "size_bytes",
                           "required: either size_bytes or packets");
      (void)entry.any("size_bytes");
      (void)entry.any("packets");
      return 0;
    }
    const double most = static_cast<double>(base::kMaxExactBytes);
    if (entry.has("packets")) {
      return static_cast<double>(entry.integer("packets", io::between(0, kMostPackets))) * payload;
    }
    const double bytes = entry.number("size_bytes", io::between(0, most));
    if (bytes != std::floor(bytes)) {
      context.problems.add(entry.json(), "size_bytes",
                           "must be a whole number of bytes, got " +
                               io::shown(*entry.any("size_bytes")));
    } else if (packets() && payload > 0 && bytes > kMostPackets * payload) {
      context.problems.add(entry.json(), "size_bytes",
                           "at the packet level at most 2^31 packets of " +
                               base::shortest(payload) + " bytes, got " +
                               io::shown(*entry.any("size_bytes")));
    }
    return bytes;
  }

  std::optional<net::FlowSpec::Protect> protect(io::Fields& entry) const {
    const io::Json* json = entry.any("protect");
    if (json == nullptr || json->is_null()) {
      return std::nullopt;
    }
    io::Fields fields(*json, context.problems);
    constexpr double kMost = 1e9;
    const std::int64_t every = fields.integer("every", io::between(1, kMost));
    const std::int64_t offset = fields.integer("offset", io::between(0, kMost), 0);
    if (fields.has("every") && every >= 1 && offset >= every) {
      context.problems.add(*json, "offset",
                           "must be below every (" + std::to_string(every) + "), got " +
                               std::to_string(offset));
    }
    fields.no_more();
    return net::FlowSpec::Protect{static_cast<std::uint32_t>(every),
                                  static_cast<std::uint32_t>(offset)};
  }

  // What single and generated flows have in common.
  net::FlowSpec common(io::Fields& entry) const {
    net::FlowSpec flow;
    flow.bytes = size(entry);
    flow.start_s = entry.number("start_s", io::between(0, net::kMostSeconds), 0);
    const auto last_queue = static_cast<double>(file.packet.options.queues - 1);
    flow.priority =
        static_cast<std::uint8_t>(entry.integer("priority", io::between(1, last_queue), 1));
    flow.weight = entry.number("weight", io::above(0), 1);
    if (packets() && flow.weight != 1) {
      context.problems.add(entry.json(), "weight",
                           "needs the flow model, got " + io::shown(*entry.any("weight")));
    }
    if (const auto cap = entry.optional_number("rate_cap_Bps", io::above(0))) {
      flow.cap_Bps = *cap;
      if (packets()) {
        context.problems.add(entry.json(), "rate_cap_Bps",
                             "needs the flow model, got " + io::shown(*entry.any("rate_cap_Bps")));
      }
    }
    flow.protect = protect(entry);
    return flow;
  }

  std::optional<net::NodeId> host(io::Fields& entry, std::string_view key) const {
    const io::Json* json = entry.any(key);
    if (json == nullptr || json->is_null()) {
      required(entry.json(), key);
      return std::nullopt;
    }
    return named_or_numbered(*json, "host", file.fabric.node_names, file.fabric.hosts,
                             context.problems);
  }

  std::string node(net::NodeId id) const { return file.fabric.node_names[id]; }

  // Links by number or name, one after the other from src to dst.
  std::vector<net::LinkId> path(io::Fields& entry, const net::FlowSpec& flow) const {
    std::vector<net::LinkId> links;
    net::NodeId at = flow.src;
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
      context.problems.add(entry.json(), "path",
                           "leads from " + node(flow.src) + " to " + node(at) + ", not to " +
                               node(flow.dst));
    }
    return links;
  }

  void via(io::Fields& entry, net::FlowSpec& flow) const {
    constexpr double kMost = 1e9;
    const auto number = entry.optional_integer("via", io::between(0, kMost));
    if (!number) {
      return;
    }
    flow.via = static_cast<std::uint32_t>(*number);
    const double ways = spines > 0 ? spines : file.routes->path_count(flow.src, flow.dst);
    if (static_cast<double>(*number) >= ways) {
      context.problems.add(entry.json(), "via",
                           "unknown spine " + std::to_string(*number) + ", must be in [0, " +
                               base::shortest(ways - 1) + "]");
      return;
    }
    try { // every switch on the way must have so many links on
      (void)net::flow_paths(file.fabric, *file.routes, {&flow, 1}, {});
    } catch (const SimulationError&) {
      context.problems.add(entry.json(), "via",
                           "no shortest way from " + node(flow.src) + " to " + node(flow.dst) +
                               " through spine " + std::to_string(*number));
    }
  }

  void single(io::Fields& entry) const {
    net::FlowSpec flow = common(entry);
    const auto src = host(entry, "src");
    const auto dst = host(entry, "dst");
    const bool routed = entry.has("path") || entry.has("via");
    const net::LoadBalancing balancing = file.packet.options.load_balancing;
    if (entry.has("path") && entry.has("via")) {
      context.problems.add(entry.json(), "via", "give either path or via");
    } else if (routed && (balancing == net::LoadBalancing::spray_random ||
                          balancing == net::LoadBalancing::spray_round_robin)) {
      context.problems.add(entry.json(), entry.has("path") ? "path" : "via",
                           "has no meaning for load_balancing " +
                               std::string(net::kLoadBalancings[balancing]));
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

  void generated(io::Fields& entry) const {
    const auto pattern = entry.word("generate", kPatterns, Pattern::incast);
    const std::int64_t hosts = file.fabric.hosts;
    const net::FlowSpec like = common(entry);
    std::int64_t senders = hosts;
    if (pattern == Pattern::incast) {
      senders = entry.integer("senders", io::at_least(1));
      if (senders >= hosts) {
        context.problems.add(entry.json(), "senders",
                             "needs senders + 1 hosts, the topology has " + std::to_string(hosts) +
                                 ", got " + io::shown(*entry.any("senders")));
      }
    }
    const std::int64_t count = pattern == Pattern::all_to_all ? hosts * (hosts - 1) : senders;
    if (count + static_cast<std::int64_t>(file.flows.size()) > kMostFlows) {
      context.problems.add(entry.json(), "generate",
                           "makes " + std::to_string(count) + " flows, a list has at most " +
                               std::to_string(kMostFlows));
    }
    if (!context.problems.empty()) {
      return; // also of earlier entries: nothing will run
    }
    const auto first = static_cast<std::ptrdiff_t>(file.flows.size());
    const net::FlowPattern size{.bytes = like.bytes, .start_s = like.start_s};
    switch (pattern) {
    case Pattern::incast:
      net::add_incast(file.flows, static_cast<std::uint32_t>(senders), size);
      break;
    case Pattern::permutation:
      net::add_permutation(file.flows, file.fabric.hosts, static_cast<std::uint64_t>(file.seed),
                           size);
      break;
    case Pattern::all_to_all:
      net::add_all_to_all(file.flows, file.fabric.hosts, size);
      break;
    }
    std::for_each(file.flows.begin() + first, file.flows.end(), [&](net::FlowSpec& flow) {
      flow.priority = like.priority;
      flow.weight = like.weight;
      flow.cap_Bps = like.cap_Bps;
      flow.protect = like.protect;
    });
  }
};

} // namespace

void parse_flow_entries(io::Fields& top, const ParseContext& context, FlowsFile& file,
                        const net::Topology& topology) {
  std::uint32_t spines = 0;
  for (const auto& [key, value] : topology.preset_parameters) {
    spines = topology.preset == "leaf_spine" && key == "spines" ? static_cast<std::uint32_t>(value)
                                                                : spines;
  }
  const Entries entries{context, file, spines};
  for (const io::Json& each : top.array("flows", true)) {
    io::Fields entry(each, context.problems);
    if (entry.has("generate")) {
      entries.generated(entry);
    } else if (each.is_object()) {
      entries.single(entry);
    }
    entry.no_more();
  }
  const double jitter = top.number("start_jitter_s", io::between(0, net::kMostSeconds), 0);
  net::add_start_jitter(file.flows, jitter, static_cast<std::uint64_t>(file.seed));
  if (std::ranges::any_of(
          file.flows, [](const net::FlowSpec& flow) { return flow.start_s > net::kMostSeconds; })) {
    context.problems.add(top.json(), "start_jitter_s", "a flow starts after 9e6 s");
  }
}

} // namespace stepsim::study
