// The tree has every value with its default filled in, except for thresholds: these follow from the
// bandwidth of a port and have no single value where ports differ.
#include "scenario/packet/packet_tree.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "links/packet/thresholds.hpp"
#include "scenario/packet/packet_background.hpp"

namespace stepsim::study {

namespace {

using links::TransportKind;

// null: no threshold.
io::Json threshold_tree(std::uint32_t packets) {
  return packets == links::kNoThreshold ? io::Json() : io::Json(std::int64_t{packets});
}

// Keys that the scope does not read are left out.
// A tree that is read again must not hold keys that its scope would refuse.
io::Json buffer_tree(const links::BufferOptions& buffer) {
  io::Json tree;
  switch (buffer.scope) {
  case links::BufferScope::port:
    tree.set("scope", "port");
    if (buffer.packets == links::kNoThreshold) {
      tree.set("bytes", buffer.bytes);
    } else {
      tree.set("packets", std::int64_t{buffer.packets});
    }
    break;
  case links::BufferScope::shared:
    tree.set("scope", "shared");
    tree.set("bytes", buffer.bytes);
    tree.set("alpha", buffer.alpha);
    break;
  case links::BufferScope::unlimited:
    tree.set("scope", "unlimited");
    break;
  }
  return tree;
}

// Given thresholds, and derived ones where all switch ports have one bandwidth and the port holds
// more packets: one that it hides has no effect, and given it would be warned of.
void add_thresholds(io::Json& tree, const links::PacketOptions& options,
                    const links::Fabric& fabric) {
  double low = INFINITY;
  double high = 0;
  for (const links::FabricLink& link : fabric.links) {
    if (!fabric.is_host(link.from)) {
      low = std::min(low, link.bandwidth_Bps);
      high = std::max(high, link.bandwidth_Bps);
    }
  }
  const bool known = low == high;
  const links::Thresholds at = links::thresholds(options, high);
  const std::uint32_t cap = options.buffer.scope == links::BufferScope::port
                                ? options.buffer.packets
                                : links::kNoThreshold;
  const auto shown = [&](const auto& given, std::uint32_t value) {
    return given || (known && (value < cap || value == links::kNoThreshold));
  };
  if (shown(options.mark_packets, at.mark)) {
    tree.set("mark_packets", threshold_tree(at.mark));
  }
  io::Json drop;
  if (shown(options.drop_droppable, at.droppable)) {
    drop.set("droppable", threshold_tree(at.droppable));
  }
  if (shown(options.drop_middle, at.middle)) {
    drop.set("middle", threshold_tree(at.middle));
  }
  drop.set("protected", threshold_tree(at.protected_));
  tree.set("drop_packets", std::move(drop));
}

// Layers with a bound of their own are listed in ascending order.
io::Json dlcp_tree(const links::DlcpOptions& dlcp, const BoundedLoss& loss) {
  io::Json tree;
  tree.set("loss_bound_push", loss.bound_push);
  tree.set("loss_bound_pull", loss.bound_pull);
  if (!loss.bound_of_layer.empty()) {
    io::Json bounds;
    for (const auto& [layer, bound] : loss.bound_of_layer) {
      bounds.set(std::to_string(layer), bound);
    }
    tree.set("loss_bound_per_layer", std::move(bounds));
  }
  tree.set("early_stop", dlcp.early_stop);
  tree.set("priority", loss.priority);
  tree.set("priority_map", kPriorityMaps[loss.priority_map]);
  tree.set("selective_drop", loss.selective_drop);
  tree.set("front_fraction", loss.front_fraction);
  tree.set("large_fraction", loss.large_fraction);
  tree.set("protect_large", loss.protect_large);
  tree.set("rate_control", links::kRateControls[dlcp.rate_control]);
  tree.set("feedback_packets", std::int64_t{dlcp.feedback_packets});
  tree.set("rate_floor", dlcp.rate_floor);
  tree.set("loss_fill", kLossFills[loss.loss_fill]);
  tree.set("rescale", loss.rescale);
  tree.set("control_lossy", dlcp.control_lossy);
  return tree;
}

io::Json tcp_tree(const links::TcpOptions& tcp, bool dctcp) {
  io::Json tree;
  tree.set("initial_window", static_cast<std::int64_t>(tcp.initial_window));
  tree.set("dup_acks", std::int64_t{tcp.duplicate_acks});
  tree.set("rto_min_s", tcp.rto_min_s);
  tree.set("rto_initial_s", tcp.rto_initial_s);
  tree.set("sack", tcp.sack);
  tree.set("restart_after_idle", tcp.restart_after_idle);
  if (dctcp) {
    tree.set("g", tcp.g);
    tree.set("alpha0", tcp.alpha0);
    tree.set("retransmissions_ect", tcp.retransmissions_ect);
  }
  return tree;
}

io::Json transport_tree(const PacketSettings& settings) {
  const links::TransportOptions& transport = settings.options.transport;
  io::Json tree = io::Object{};
  switch (transport.kind) {
  case TransportKind::raw:
  case TransportKind::pfabric:
    break;
  case TransportKind::window:
    tree.set("window_packets", std::int64_t{transport.window_packets});
    break;
  case TransportKind::reno:
  case TransportKind::dctcp:
    tree = tcp_tree(transport.tcp, transport.kind == TransportKind::dctcp);
    break;
  case TransportKind::dlcp:
    tree = dlcp_tree(transport.dlcp, settings.bounded_loss);
    break;
  }
  tree.set("kind", links::kTransportKinds[transport.kind]);
  return tree;
}

// Links by number, whatever the file called them: the simulation knows them so.
io::Json faults_tree(const links::PacketOptions& options) {
  io::Array losses;
  for (const links::LinkLoss& loss : options.link_loss) {
    losses.push_back(
        io::Object{{"link", std::int64_t{loss.link}}, {"probability", loss.probability}});
  }
  io::Array drops;
  for (const links::DropOnce& drop : options.drop_once) {
    drops.push_back(io::Object{{"link", std::int64_t{drop.link}},
                               {"flow", std::int64_t{drop.connection}},
                               {"seq", std::int64_t{drop.seq}},
                               {"nth", std::int64_t{drop.nth}}});
  }
  return io::Object{{"link_loss", std::move(losses)}, {"drop_packets_once", std::move(drops)}};
}

} // namespace

// Background and transport are objects of their own and absent where there is none.
io::Json packet_tree(const PacketSettings& settings, const links::Fabric& fabric) {
  const links::PacketOptions& options = settings.options;
  io::Json tree;
  tree.set("mtu_wire_bytes", std::int64_t{options.mtu_wire_bytes});
  tree.set("header_bytes", std::int64_t{options.header_bytes});
  tree.set("wire_overhead_bytes", std::int64_t{options.wire_overhead_bytes});
  tree.set("control_bytes", std::int64_t{options.control_bytes});
  tree.set("ack_bytes", std::int64_t{options.ack_bytes});
  tree.set("queues", std::int64_t{options.queues});
  tree.set("switch_latency_s", options.switch_latency_s);
  tree.set("buffer", buffer_tree(options.buffer));
  add_thresholds(tree, options, fabric);
  tree.set("load_balancing", links::kLoadBalancings[options.load_balancing]);
  tree.set("spray_offset", options.spray_offset == links::SprayOffset::host ? "host" : "zero");
  tree.set("queue_discipline", links::kQueueDisciplines[options.queue_discipline]);
  tree.set("faults", faults_tree(options));
  if (settings.background.load > 0) {
    tree.set("background", background_tree(settings.background));
  }
  if (settings.has_transport) {
    tree.set("transport", transport_tree(settings));
  }
  return tree;
}

} // namespace stepsim::study
