// The flow level knows no packets: headers and bounded loss only change how many bytes a flow has.
// The packet level runs every packet through queues and transports.

#include "run/flows_run.hpp"

#include "links/packet/packet_network.hpp"
#include "run/run_timeline.hpp"

namespace stepsim::study {

namespace {

// The share of a message that must arrive: 1, or need / n of its packets with bounded loss and
// early stop.
double carried_part(const FlowsFile& file, double bytes) {
  const links::TransportOptions& transport = file.packet.options.transport;
  if (!file.packet.has_transport || transport.kind != links::TransportKind::dlcp ||
      !transport.dlcp.early_stop || bytes == 0) {
    return 1;
  }
  const double packets = std::ceil(bytes / file.packet.options.full_payload());
  const double bound = file.packet.bounded_loss.bound_push_of(0);
  return links::packets_needed(packets, bound) / packets;
}

// [id] the path of every flow: the one that `via` or `path` names, else all shortest paths at once
// if the load balancing sprays packets, else the one that ECMP gives its connection.
std::vector<links::FlowPath> flow_list_paths(const FlowsFile& file) {
  return links::flow_paths(file.fabric, *file.routes, file.flows,
                           {.seed = file.packet.options.seed,
                            .spray = links::is_sprayed(file.packet.options.load_balancing)});
}

// Every flow is a fluid whose size is what must arrive, with headers where they count.
// Early stop ends a message once enough has arrived; a fluid has no losses, so that what need not
// arrive is simply not sent.
FlowsResult run_flow_level(const FlowsFile& file) {
  const links::PacketOptions& options = file.packet.options;
  std::vector<links::FlowSpec> flows = file.flows;
  FlowsResult result;
  for (links::FlowSpec& flow : flows) {
    const double part = carried_part(file, flow.bytes);
    result.flows.push_back(
        {.delivered_bytes = flow.bytes * part, .lost_bytes = flow.bytes - flow.bytes * part});
    const double size = file.count_headers
                            ? links::wire_bytes(flow.bytes, options.full_payload(),
                                                options.header_bytes + options.wire_overhead_bytes)
                            : flow.bytes;
    flow.bytes = size * part;
  }
  const links::FlowRun run = links::run_flows(file.fabric, flow_list_paths(file), flows,
                                              {.limit_s = file.simulated_limit_s});
  for (std::size_t id = 0; id < flows.size(); ++id) {
    result.flows[id].fct_s = run.end_s[id] - flows[id].start_s;
  }
  for (links::LinkId link = 0; link < file.fabric.links.size(); ++link) {
    result.links.push_back(link_result(file.fabric.links[link], run.links[link], run.finish_s));
  }
  result.elapsed_s = run.finish_s;
  result.events = run.events;
  result.solves = run.solves;
  if (const auto risk = incast_risk(file)) {
    result.warnings.push_back(*risk);
  }
  if (!options.link_loss.empty() || !options.drop_once.empty()) {
    result.warnings.emplace_back("faults have no effect at the flow level");
  }
  if (file.packet.background.load > 0) {
    result.warnings.emplace_back("there is no background load at the flow level");
  }
  return result;
}

// Paths that flows ask for are taken whatever the others do; without any, `explicit` is ECMP.
// Flows without a path of their own get the one that ECMP gives them.
std::vector<links::PacketFlow> packet_flows(const FlowsFile& file, links::PacketOptions& options) {
  const bool explicit_paths = std::ranges::any_of(
      file.flows, [](const links::FlowSpec& flow) { return flow.via || !flow.path.empty(); });
  if (explicit_paths) {
    options.load_balancing = links::LoadBalancing::explicit_path;
  }
  const std::vector<links::FlowPath> paths =
      explicit_paths ? flow_list_paths(file) : std::vector<links::FlowPath>();
  std::vector<links::PacketFlow> flows;
  for (std::size_t id = 0; id < file.flows.size(); ++id) {
    const links::FlowSpec& spec = file.flows[id];
    links::PacketFlow flow{.src = spec.src,
                           .dst = spec.dst,
                           .size_bytes = static_cast<std::int64_t>(spec.bytes),
                           .start_s = spec.start_s};
    flow.queue = spec.priority;
    flow.loss_bound = file.packet.bounded_loss.bound_push_of(0);
    if (spec.protect) {
      flow.drop_rule.kind = links::DropRule::Kind::every;
      flow.drop_rule.every = spec.protect->every;
      flow.drop_rule.offset = spec.protect->offset;
    }
    if (spec.via || !spec.path.empty()) {
      flow.path = paths[id].links;
    }
    flows.push_back(std::move(flow));
  }
  return flows;
}

// Completion, losses and counts of one message of the packet level.
FlowResult flow_result(const links::MessageResult& message) {
  FlowResult flow;
  if (message.complete()) {
    flow.fct_s = links::to_seconds(message.fct());
  }
  flow.delivered_bytes = static_cast<double>(message.delivered_bytes);
  flow.lost_bytes = static_cast<double>(message.size_bytes - message.delivered_bytes);
  flow.packets = {.retransmissions = message.retransmissions,
                  .timeouts = message.timeouts,
                  .duplicates = message.duplicates,
                  .probe_rounds = message.probe_rounds,
                  .wasted_bytes = message.wasted_bytes};
  return flow;
}

// Background flows that started, and were complete, before the last flow of the list ended.
// Flows that are still under way have no completion time and are in no statistic, which favours
// short flows; `started` tells how many there were.
FlowsResult::Background background_result(const std::vector<links::MessageResult>& messages,
                                          links::Picoseconds end) {
  FlowsResult::Background background;
  std::vector<double> seconds;
  for (const links::MessageResult& message : messages) {
    background.started += message.start <= end ? 1 : 0;
    if (message.complete()) {
      seconds.push_back(links::to_seconds(message.fct()));
    }
  }
  background.completed = seconds.size();
  background.statistics = flow_statistics(std::move(seconds));
  return background;
}

// Every packet goes through the queues of its path.
FlowsResult run_packet_level(const FlowsFile& file) {
  links::PacketOptions options = file.packet.options;
  const std::vector<links::PacketFlow> flows = packet_flows(file, options);
  const links::PacketFlowsResult run =
      links::run_packet_flows(file.fabric, *file.routes, options, flows, file.packet.background);
  FlowsResult result;
  for (const links::MessageResult& message : run.flows) {
    result.flows.push_back(flow_result(message));
  }
  result.elapsed_s = links::to_seconds(run.end);
  for (const links::LinkCounters& link : run.links) {
    result.links.push_back(link_result(link, result.elapsed_s));
  }
  if (file.packet.background.load > 0) {
    result.background = background_result(run.background, run.end);
  }
  result.classes = run.classes;
  result.events = run.events;
  result.packet_hops = run.packet_hops;
  return result;
}

// Spans of one lane must not overlap in the trace format, so that flows which a host sends at the
// same time are spread over lanes.

constexpr std::size_t kCountedLinks = 8; // with a counter of flows
constexpr std::uint32_t kFirstLane = 1;  // 0 is for computing

// A flow while it is under way.
struct Life {
  std::size_t id{};
  double start_s{}, end_s{};
};

// The flows that took time, by their start.
// Sorted by start, since lanes are given out in that order.
std::vector<Life> lives(const FlowsFile& file, const FlowsResult& result) {
  std::vector<Life> all;
  for (std::size_t id = 0; id < result.flows.size(); ++id) {
    if (const auto fct = result.flows[id].fct_s; fct && *fct > 0) {
      all.push_back({id, file.flows[id].start_s, file.flows[id].start_s + *fct});
    }
  }
  std::ranges::stable_sort(all, {}, &Life::start_s);
  return all;
}

// Every host has as many lanes as it has flows at once: a flow takes the first free one.
void add_spans(const FlowsFile& file, const FlowsResult& result, const std::vector<Life>& all,
               events::Timeline& timeline) {
  std::vector<std::vector<double>> free_at(file.fabric.hosts); // [host][lane]
  for (const auto& [id, start_s, end_s] : all) {
    const links::FlowSpec& flow = file.flows[id];
    std::vector<double>& lanes = free_at[flow.src];
    const auto lane = std::ranges::find_if(lanes, [at = start_s](double end) { return end <= at; });
    const auto number = static_cast<std::uint32_t>(lane - lanes.begin());
    if (lane == lanes.end()) {
      lanes.push_back(end_s);
    } else {
      *lane = end_s;
    }
    timeline.spans.push_back(
        {.track = {flow.src, kFirstLane + number},
         .start = {start_s},
         .end = {end_s},
         .name = fmt::format("flow {} to {}", id, file.fabric.node_names[flow.dst]),
         .category = "communication",
         .numbers = {{"bytes", flow.bytes}, {"lost_bytes", result.flows[id].lost_bytes}}});
  }
  for (links::NodeId host = 0; host < file.fabric.hosts; ++host) {
    for (std::uint32_t lane = 0; lane < free_at[host].size(); ++lane) {
      timeline.lane_names.push_back({{host, kFirstLane + lane}, "flows " + std::to_string(lane)});
    }
  }
}

// How many flows are under way over a link, where it ends.
// A sprayed flow counts on every link that its packets may take.
void add_counters(const FlowsFile& file, const FlowsResult& result, const std::vector<Life>& all,
                  events::Timeline& timeline) {
  const std::vector<links::LinkId> busiest = busiest_links(result.links, kCountedLinks);
  const std::vector<links::FlowPath> paths = flow_list_paths(file);
  for (const links::LinkId link : busiest) {
    std::vector<LinkChange> changes;
    for (const auto& [id, start_s, end_s] : all) {
      if (std::ranges::count(paths[id].links, link) > 0) {
        changes.push_back({start_s, 1});
        changes.push_back({end_s, -1});
      }
    }
    add_counter(file.fabric.links[link].from, "flows on " + file.fabric.link_names[link],
                std::move(changes), timeline);
  }
}

} // namespace

// At the flow level every end of a flow may change the rates of all others; at packet level a
// packet and its acknowledgement pass every link of the path.
double estimated_seconds(const FlowsFile& file) {
  constexpr double kFlowEnd = 2e-6;   // s
  constexpr double kOther = 2e-9;     // s per other flow at the end of one
  constexpr double kPacketHop = 2e-7; // s
  const auto flows = static_cast<double>(file.flows.size());
  if (file.level == NetworkLevel::flow) {
    return flows * (kFlowEnd + kOther * flows);
  }
  const double payload = file.packet.options.full_payload();
  const double packets = base::sum_of<double>(
      file.flows, [&](const links::FlowSpec& flow) { return std::ceil(flow.bytes / payload); });
  double links = 2;
  if (!file.flows.empty()) {
    const links::FlowSpec& first = file.flows.front();
    const auto path = file.routes->ecmp_path(first.src, first.dst, 0, file.packet.options.seed);
    links = std::max(links, static_cast<double>(path.size()));
  }
  return packets * 2 * links * kPacketHop;
}

FlowsResult run_flow_list(const FlowsFile& file) {
  FlowsResult result =
      file.level == NetworkLevel::flow ? run_flow_level(file) : run_packet_level(file);
  std::vector<double> seconds;
  std::size_t undelivered = 0;
  for (const FlowResult& flow : result.flows) {
    if (flow.fct_s) {
      seconds.push_back(*flow.fct_s);
    } else {
      ++undelivered;
    }
  }
  result.statistics = flow_statistics(std::move(seconds));
  if (undelivered > 0) {
    result.warnings.push_back(fmt::format(
        "nothing was delivered of {} flows: they have no fct_s and are not in the summary",
        undelivered));
  }
  result.warnings.insert(result.warnings.begin(), file.warnings.begin(), file.warnings.end());
  return result;
}

events::Timeline flows_timeline(const FlowsFile& file, const FlowsResult& result) {
  events::Timeline timeline;
  timeline.node_names = file.fabric.node_names;
  const std::vector<Life> all = lives(file, result);
  add_spans(file, result, all, timeline);
  add_counters(file, result, all, timeline);
  return timeline;
}

} // namespace stepsim::study
