// One table of rows per object of the result. A row that is required is written whatever the level
// is, as null where only the other level has a value.

#include "run/flows_run.hpp"

#include "scenario/keys/packet_keys.hpp"

#include <deque>

namespace stepsim::study {

namespace {

using namespace io::rows;
using io::Json;
using io::Written;

using Packets = FlowResult::Packets;

// A flow of the list; its id is its position.
struct Flow {
  std::size_t id{};
  FlowResult result;
};

// The row of a figure of a flow; of packets they are null at the flow level.
template <auto... Members> constexpr Written<Flow> flow_row(std::string_view sentence) {
  return io::row<&Flow::result, Members...>(sentence).in(io::at_least(0));
}

constexpr auto kOneFlow = std::to_array<Written<Flow>>({
    io::row<&Flow::id>("Position of the flow in the expanded list, from 0.").in(io::at_least(0)),
    flow_row<&FlowResult::fct_s>(
        "Flow completion time: from the start of the flow to its "
        "completion at the receiver, s. Null where nothing was delivered."),
    flow_row<&FlowResult::delivered_bytes>("Bytes that arrived."),
    flow_row<&FlowResult::lost_bytes>("Bytes that did not arrive, which bounded loss allows."),
    flow_row<&FlowResult::packets, &Packets::retransmissions>("Packets that were sent again."),
    flow_row<&FlowResult::packets, &Packets::timeouts>("Retransmission timeouts."),
    flow_row<&FlowResult::packets, &Packets::wasted_bytes>(
        "Bytes that arrived after their flow was complete."),
    flow_row<&FlowResult::packets, &Packets::duplicates>("Packets that arrived more than once."),
    flow_row<&FlowResult::packets, &Packets::probe_rounds>("Rounds of probes of transport dlcp."),
});

// The row of a member of a value that there may not be.
template <auto Member> constexpr auto row_of_any(std::string_view sentence) {
  using Any = std::optional<typename io::MemberOf<decltype(Member)>::Source>;
  return io::row(io::key_of<Member>(), sentence,
                 [](const Any& any) { return any ? std::optional((*any).*Member) : std::nullopt; })
      .in(io::at_least(0));
}

using Statistics = std::optional<FlowStatistics>;

// Percentiles are by nearest rank.
constexpr auto kStatistics = std::to_array<Written<Statistics>>({
    row_of_any<&FlowStatistics::mean_s>("Mean completion time, s."),
    row_of_any<&FlowStatistics::p50_s>("Completion time that half of the flows do not exceed, s."),
    row_of_any<&FlowStatistics::p95_s>("Completion time that 95 % of the flows do not exceed, s."),
    row_of_any<&FlowStatistics::p99_s>("Completion time that 99 % of the flows do not exceed, s."),
    row_of_any<&FlowStatistics::max_s>("Longest completion time, s."),
});

using Background = FlowsResult::Background;

constexpr auto kBackground = std::to_array<Written<Background>>({
    io::row<&Background::started>(
        "Background flows that started before the last flow of the list ended.")
        .in(io::at_least(0)),
    io::row<&Background::completed>("Background flows that were complete by then.")
        .in(io::at_least(0)),
});

using Class = std::optional<links::PacketCounts>;
using links::PacketCounts;

constexpr auto kClass = std::to_array<Written<Class>>({
    row_of_any<&PacketCounts::sent>("Packets that were sent."),
    row_of_any<&PacketCounts::delivered>("Packets that arrived."),
    row_of_any<&PacketCounts::dropped>("Packets that were lost at ports."),
    row_of_any<&PacketCounts::vanished>("Packets that faults took."),
});

// A template, because rows hold plain function pointers, which cannot remember a class.
template <links::DropClass drop_class> Json class_tree(const FlowsResult& result) {
  constexpr auto place = static_cast<std::size_t>(drop_class);
  return io::write(kClass, result.classes ? Class((*result.classes)[place]) : Class());
}

constexpr auto kClasses = std::to_array<Written<FlowsResult>>({
    {object("protected", io::kKeysOf<kClass>, "Protected packets.").required(),
     class_tree<links::DropClass::protected_>},
    {object("middle", io::kKeysOf<kClass>, "Packets of the middle class.").required(),
     class_tree<links::DropClass::middle>},
    {object("droppable", io::kKeysOf<kClass>, "Droppable packets.").required(),
     class_tree<links::DropClass::droppable>},
    {object("not_ect", io::kKeysOf<kClass>, "Packets that are not ECN-capable.").required(),
     class_tree<links::DropClass::not_ect>},
});
static_assert(kClasses.size() == links::kDropClasses);

constexpr auto kFlowsNetwork = std::to_array<Written<FlowsFile>>({
    {word("model", kNetworkLevels, "Level of the run.").required(),
     [](const FlowsFile& file) { return Json(kNetworkLevels[file.level]); }},
    {word("transport", links::kTransportKinds, "Transport; null if the file has none.")
         .nullable()
         .required(),
     [](const FlowsFile& file) {
       return file.packet.has_transport
                  ? Json(links::kTransportKinds[file.packet.options.transport.kind])
                  : Json();
     }},
    {word("queue_discipline", links::kQueueDisciplines,
          "Order of packets within a queue; null at the flow level.")
         .nullable()
         .required(),
     [](const FlowsFile& file) {
       return file.level == NetworkLevel::packet
                  ? Json(links::kQueueDisciplines[file.packet.options.queue_discipline])
                  : Json();
     }},
    {word("load_balancing", links::kLoadBalancings, "How a path is chosen among the shortest.")
         .required(),
     [](const FlowsFile& file) {
       return Json(links::kLoadBalancings[file.packet.options.load_balancing]);
     }},
    io::row<&FlowsFile::count_headers>("Flows had the bytes on the wire instead of the payload."),
    {object("packet", keys::kPacket, "The packet block of the file with its defaults.").required(),
     [](const FlowsFile& file) { return packet_tree(file.packet, file.fabric); }},
});

constexpr io::Key kSummary =
    object("summary", io::kKeysOf<kStatistics>, "Completion times over all flows that have one.");

struct Run {
  const FlowsFile& file;
  const FlowsResult& result;
};

std::vector<Flow> flows_of(const FlowsResult& result) {
  std::vector<Flow> flows;
  for (const FlowResult& flow : result.flows) {
    flows.push_back({flows.size(), flow});
  }
  return flows;
}

// Null without background load, which is different from a load none of whose flows has ended.
Json background_of(const Run& run) {
  if (!run.result.background) {
    return {};
  }
  Json tree = io::write(kStatistics, run.result.background->statistics);
  io::add(tree, io::write(kBackground, *run.result.background));
  return tree;
}

template <auto Member> constexpr Written<Run> result_row(std::string_view sentence) {
  return io::row(io::key_of<Member>(), sentence, [](const Run& run) { return run.result.*Member; })
      .in(io::at_least(0));
}

constexpr auto kFlowsResult = std::to_array<Written<Run>>({
    {integer("schema_version", "Version of the format.").in(io::between(1, 1)).required(),
     [](const Run&) { return Json(1); }},
    {text("name", "Name that the file gives itself."),
     [](const Run& run) { return run.file.name.empty() ? Json() : Json(run.file.name); }},
    {integer("seed", "Seed of the run.").in(io::between(0, io::kMostExact)).required(),
     [](const Run& run) { return Json(run.file.seed); }},
    {object("network", io::kKeysOf<kFlowsNetwork>, "The network with its defaults.").required(),
     [](const Run& run) { return io::write(kFlowsNetwork, run.file); }},
    io::list_row<kOneFlow, "A flow.">("flows", "Every flow of the expanded list.",
                                      [](const Run& run) { return flows_of(run.result); }),
    {kSummary.required(),
     [](const Run& run) { return io::write(kStatistics, run.result.statistics); }},
    {object("background", io::kKeysOf<kStatistics>,
            "Completion times of background flows, which are in no other number; null without "
            "background load.")
         .and_also(io::kKeysOf<kBackground>)
         .nullable()
         .required(),
     background_of},
    io::list_row<kLinkUse, "A link.">(
        "links", "The use of every link.",
        [](const Run& run) { return named_links(run.file.fabric, run.result.links); }),
    {object("classes", io::kKeysOf<kClasses>, "Packets by drop class; null at the flow level.")
         .required(),
     [](const Run& run) { return io::write(kClasses, run.result); }},
    result_row<&FlowsResult::events>("Events that were simulated."),
    result_row<&FlowsResult::packet_hops>(
        "Links that packets crossed, summed over packets; null at the flow level."),
    result_row<&FlowsResult::solves>("Allocations of bandwidth; null at the packet level."),
    io::texts_row<"A warning.">("warnings", "What to know about the result.",
                                [](const Run& run) { return run.result.warnings; }),
});

constexpr io::Key kResultObject =
    object("flows_result", io::kKeysOf<kFlowsResult>, "What stepsim flows --json writes.")
        .and_also(io::kMeta);

// Two hosts and one flow, at the flow level.
constexpr std::array<std::string_view, 1> kFlowsExamples{
    R"({"background":null,"classes":{"droppable":{"delivered":null,"dropped":null,"sent":null,"vanished":null},"middle":{"delivered":null,"dropped":null,"sent":null,"vanished":null},"not_ect":{"delivered":null,"dropped":null,"sent":null,"vanished":null},"protected":{"delivered":null,"dropped":null,"sent":null,"vanished":null}},"events":2,"flows":[{"delivered_bytes":1e+06,"duplicates":null,"fct_s":0.001002,"id":0,"lost_bytes":0,"probe_rounds":null,"retransmissions":null,"timeouts":null,"wasted_bytes":null}],"links":[{"busy_s":0.001,"bytes":1e+06,"drops":{"buffer":null,"fault":null,"threshold":null},"id":0,"marks":null,"max_queue_packets":null,"name":"h0>switch","utilization":0.9980039920159679},{"busy_s":0,"bytes":0,"drops":{"buffer":null,"fault":null,"threshold":null},"id":1,"marks":null,"max_queue_packets":null,"name":"switch>h0","utilization":0},{"busy_s":0,"bytes":0,"drops":{"buffer":null,"fault":null,"threshold":null},"id":2,"marks":null,"max_queue_packets":null,"name":"h1>switch","utilization":0},{"busy_s":0.001,"bytes":1e+06,"drops":{"buffer":null,"fault":null,"threshold":null},"id":3,"marks":null,"max_queue_packets":null,"name":"switch>h1","utilization":0.9980039920159679}],"network":{"count_headers":false,"load_balancing":"ecmp","model":"flow","packet":{"ack_bytes":40,"buffer":{"packets":100,"scope":"port"},"control_bytes":64,"drop_packets":{"droppable":16,"middle":40,"protected":null},"faults":{"drop_packets_once":[],"link_loss":[]},"header_bytes":40,"load_balancing":"ecmp","mark_packets":52,"mtu_wire_bytes":1500,"queue_discipline":"fifo","queues":8,"spray_offset":"host","switch_latency_s":0,"wire_overhead_bytes":0},"queue_discipline":null,"transport":null},"packet_hops":null,"schema_version":1,"seed":1,"solves":1,"summary":{"max_s":0.001002,"mean_s":0.001002,"p50_s":0.001002,"p95_s":0.001002,"p99_s":0.001002},"warnings":[]})"};

// One pass over the flows by their start, with the packets of first windows that wait before each
// host. Between starts the port sends the oldest ones at its rate. Later windows are not followed:
// whether they overflow too depends on the losses of the first ones.

// Packets that a port of the switch before a host can hold for one queue; infinite = no limit. Of a
// shared pool one hot queue gets alpha / (1 + alpha).
// A port with a limit in bytes holds as many full packets as fit.
double port_packets(const links::PacketOptions& options) {
  const links::BufferOptions& buffer = options.buffer;
  const double pool = static_cast<double>(buffer.bytes) / options.mtu_wire_bytes;
  if (buffer.scope == links::BufferScope::shared) {
    return std::floor(pool * buffer.alpha / (1 + buffer.alpha));
  }
  return buffer.scope == links::BufferScope::unlimited ? INFINITY
         : buffer.packets == links::kNoThreshold       ? std::floor(pool)
                                                       : buffer.packets;
}

// Packets of first windows that wait at the port of one host, and leave in the order of arrival.
struct Backlog {
  struct Window {
    links::NodeId src;
    double packets;
  };
  std::deque<Window> waiting;
  double packets = 0; // of all windows that wait
  double since_s = 0;
  std::map<links::NodeId, double> of_source; // the same by their source

  void leave(double leaving) {
    while (!waiting.empty() && leaving > 0) {
      Window& first = waiting.front();
      const double gone = std::min(leaving, first.packets);
      const bool empty = gone == first.packets;
      leaving -= gone;
      packets -= gone;
      first.packets -= gone;
      of_source[first.src] -= gone;
      if (empty) {
        waiting.pop_front();
      }
    }
    if (waiting.empty()) { // without the rounding of the differences
      packets = 0;
      of_source.clear();
    }
  }

  // Packets that find no place in a port that holds none: what came from all but the busiest
  // source, and one more. The packets of that source come one after the other at line rate and
  // leave at the same rate, so that they alone never overflow the port.
  double add(double start_s, links::NodeId src, double window, double packet_s) {
    leave((start_s - since_s) / packet_s);
    since_s = start_s;
    waiting.push_back({src, window});
    packets += window;
    of_source[src] += window;
    double most = 0;
    for (const auto& [host, sent] : of_source) {
      most = std::max(most, sent);
    }
    return packets - most + 1;
  }
};

} // namespace

Json flows_tree(const FlowsFile& file, const FlowsResult& result) {
  return io::write(kFlowsResult, Run{file, result});
}

io::FileKind flows_result_kind() { return {"flows_result", &kResultObject, kFlowsExamples, false}; }

std::optional<std::string> incast_risk(const FlowsFile& file) {
  const links::PacketOptions& options = file.packet.options;
  const links::TransportKind kind = options.transport.kind;
  const bool tcp = kind == links::TransportKind::reno || kind == links::TransportKind::dctcp;
  const double cap = port_packets(options);
  if (!file.packet.has_transport || !tcp || std::isinf(cap)) {
    return std::nullopt;
  }
  std::vector<double> packet_s(file.fabric.hosts, 0); // of the fastest link into the host
  for (const links::FabricLink& link : file.fabric.links) {
    if (file.fabric.is_host(link.to)) {
      const double time = options.mtu_wire_bytes / link.bandwidth_Bps;
      packet_s[link.to] = packet_s[link.to] > 0 ? std::min(packet_s[link.to], time) : time;
    }
  }
  std::vector<std::uint32_t> order(file.flows.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t id) { return file.flows[id].start_s; });
  std::map<links::NodeId, Backlog> at;
  double worst = 0;
  std::optional<std::string> text;
  for (const std::uint32_t id : order) {
    const links::FlowSpec& flow = file.flows[id];
    if (flow.src == flow.dst || flow.bytes == 0) {
      continue;
    }
    const double window = std::min(options.transport.tcp.initial_window,
                                   std::ceil(flow.bytes / options.full_payload()));
    Backlog& backlog = at[flow.dst];
    const double overflow = backlog.add(flow.start_s, flow.src, window, packet_s[flow.dst]) - cap;
    if (overflow > worst) {
      worst = overflow;
      text = "incast_risk: the first windows of " + std::to_string(backlog.waiting.size()) +
             " flows to " + file.fabric.node_names[flow.dst] + " (" +
             base::shortest(std::round(backlog.packets)) + " packets) overflow a buffer of " +
             base::shortest(cap) +
             " packets; the flow level knows no losses and no timeouts, the packet level does";
    }
  }
  return text;
}

} // namespace stepsim::study
