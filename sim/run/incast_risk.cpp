// One pass over the flows by their start, with the packets of first windows that wait before each
// host. Between starts the port sends the oldest ones at its rate. Later windows are not followed:
// whether they overflow too depends on the losses of the first ones.
#include "run/flows_run.hpp"

#include <deque>

namespace stepsim::study {

namespace {

// Packets that a port of the switch before a host can hold for one queue; infinite = no limit. Of a
// shared pool one hot queue gets alpha / (1 + alpha).
// A port with a limit in bytes holds as many full packets as fit.
double port_packets(const links::PacketOptions& options) {
  const links::BufferOptions& buffer = options.buffer;
  const double pool = static_cast<double>(buffer.bytes) / options.mtu_wire_bytes;
  switch (buffer.scope) {
  case links::BufferScope::port:
    return buffer.packets == links::kNoThreshold ? std::floor(pool) : buffer.packets;
  case links::BufferScope::shared:
    return std::floor(pool * buffer.alpha / (1 + buffer.alpha));
  case links::BufferScope::unlimited:
    break;
  }
  return INFINITY;
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
