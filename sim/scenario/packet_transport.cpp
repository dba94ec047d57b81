// `transport` of the packet block, and the block back as a tree.
#include <array>
#include <charconv>
#include <cmath>

#include "net/packet/ports.hpp"
#include "net/packet/thresholds.hpp"
#include "scenario/keys/packet.hpp"
#include "scenario/packet_settings.hpp"
#include "scenario/scenario_parts.hpp"
#include "json/reader.hpp"

namespace stepsim::study {

namespace {

using net::TransportKind;

constexpr unsigned bit(TransportKind kind) { return 1U << static_cast<unsigned>(kind); }
constexpr unsigned kTcp = bit(TransportKind::reno) | bit(TransportKind::dctcp);
constexpr unsigned kDctcp = bit(TransportKind::dctcp);
constexpr unsigned kDlcp = bit(TransportKind::dlcp);

// Keys, and for which transports they mean something.
struct TransportKey {
  std::string_view key;
  unsigned kinds;
};
constexpr std::array kTransportKeys{TransportKey{"window_packets", bit(TransportKind::window)},
                                    TransportKey{"initial_window", kTcp},
                                    TransportKey{"dup_acks", kTcp},
                                    TransportKey{"rto_min_s", kTcp},
                                    TransportKey{"rto_initial_s", kTcp},
                                    TransportKey{"sack", kTcp},
                                    TransportKey{"restart_after_idle", kTcp},
                                    TransportKey{"g", kDctcp},
                                    TransportKey{"alpha0", kDctcp},
                                    TransportKey{"retransmissions_ect", kDctcp},
                                    TransportKey{"loss_bound_push", kDlcp},
                                    TransportKey{"loss_bound_pull", kDlcp},
                                    TransportKey{"loss_bound_per_layer", kDlcp},
                                    TransportKey{"early_stop", kDlcp},
                                    TransportKey{"priority", kDlcp},
                                    TransportKey{"priority_map", kDlcp},
                                    TransportKey{"selective_drop", kDlcp},
                                    TransportKey{"front_fraction", kDlcp},
                                    TransportKey{"large_fraction", kDlcp},
                                    TransportKey{"protect_large", kDlcp},
                                    TransportKey{"rate_control", kDlcp},
                                    TransportKey{"feedback_packets", kDlcp},
                                    TransportKey{"rate_floor", kDlcp},
                                    TransportKey{"loss_fill", kDlcp},
                                    TransportKey{"rescale", kDlcp},
                                    TransportKey{"control_lossy", kDlcp}};

std::uint32_t count(io::Fields& fields, std::string_view key) {
  return static_cast<std::uint32_t>(fields.integer(key));
}

void parse_tcp(io::Fields& fields, net::TcpOptions& tcp) {
  tcp.initial_window = count(fields, "initial_window");
  tcp.duplicate_acks = count(fields, "dup_acks");
  tcp.rto_min_s = fields.number("rto_min_s");
  tcp.rto_initial_s = fields.number("rto_initial_s");
  tcp.restart_after_idle = fields.boolean("restart_after_idle");
  tcp.sack = fields.boolean("sack");
  tcp.g = fields.number("g");
  tcp.alpha0 = fields.number("alpha0");
  tcp.retransmissions_ect = fields.boolean("retransmissions_ect");
}

// {"0": 0.05, "12": 0}: layer -> bound.
void parse_bounds_of_layers(io::Fields& fields, const ParseContext& context, BoundedLoss& loss) {
  const io::Json* json = fields.any("loss_bound_per_layer");
  if (json == nullptr || json->is_null()) {
    return;
  }
  if (!json->is_object()) {
    context.problems.add(*json, "must be an object {layer: bound}, got " + io::shown(*json));
    return;
  }
  for (const auto& [key, value] : json->as_object()) {
    std::int64_t layer = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), layer);
    if (error != std::errc() || end != key.data() + key.size() || layer < 0) {
      context.problems.add(*json, key, "must be the number of a layer, from 0");
      continue;
    }
    if (const auto bound =
            io::checked_number(value, keys::kBoundOfLayer.front().range, context.problems)) {
      loss.bound_of_layer[layer] = *bound;
    }
  }
}

void parse_dlcp(io::Fields& fields, const ParseContext& context, net::DlcpOptions& dlcp,
                BoundedLoss& loss) {
  loss.bound_push = fields.number("loss_bound_push");
  loss.bound_pull = fields.number("loss_bound_pull");
  parse_bounds_of_layers(fields, context, loss);
  dlcp.early_stop = fields.boolean("early_stop");
  loss.priority = fields.boolean("priority");
  loss.priority_map = fields.word("priority_map", kPriorityMaps);
  loss.selective_drop = fields.boolean("selective_drop");
  loss.front_fraction = fields.number("front_fraction");
  loss.large_fraction = fields.number("large_fraction");
  loss.protect_large = fields.boolean("protect_large");
  dlcp.rate_control = fields.word("rate_control", net::kRateControls);
  dlcp.feedback_packets = count(fields, "feedback_packets");
  dlcp.rate_floor = fields.number("rate_floor");
  loss.loss_fill = fields.word("loss_fill", kLossFills);
  loss.rescale = fields.boolean("rescale");
  dlcp.control_lossy = fields.boolean("control_lossy");
}

io::Json threshold_tree(std::uint32_t packets) {
  return packets == net::kNoThreshold ? io::Json() : io::Json(std::int64_t{packets});
}

io::Json buffer_tree(const net::BufferOptions& buffer) {
  io::Json tree;
  switch (buffer.scope) {
  case net::BufferScope::port:
    tree.set("scope", "port");
    if (buffer.packets == net::kNoThreshold) {
      tree.set("bytes", buffer.bytes);
    } else {
      tree.set("packets", std::int64_t{buffer.packets});
    }
    break;
  case net::BufferScope::shared:
    tree.set("scope", "shared");
    tree.set("bytes", buffer.bytes);
    tree.set("alpha", buffer.alpha);
    break;
  case net::BufferScope::unlimited:
    tree.set("scope", "unlimited");
    break;
  }
  return tree;
}

// Given thresholds, and derived ones where all switch ports have one bandwidth and the port holds
// more packets: one that it hides has no effect, and given it would be warned of.
void add_thresholds(io::Json& tree, const net::PacketOptions& options, const net::Fabric& fabric) {
  double low = INFINITY;
  double high = 0;
  for (const net::FabricLink& link : fabric.links) {
    if (!fabric.is_host(link.from)) {
      low = std::min(low, link.bandwidth_Bps);
      high = std::max(high, link.bandwidth_Bps);
    }
  }
  const bool known = low == high;
  const net::Thresholds at = net::thresholds(options, high);
  const std::uint32_t cap =
      options.buffer.scope == net::BufferScope::port ? options.buffer.packets : net::kNoThreshold;
  const auto shown = [&](const auto& given, std::uint32_t value) {
    return given || (known && (value < cap || value == net::kNoThreshold));
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

io::Json dlcp_tree(const net::DlcpOptions& dlcp, const BoundedLoss& loss) {
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
  tree.set("rate_control", net::kRateControls[dlcp.rate_control]);
  tree.set("feedback_packets", std::int64_t{dlcp.feedback_packets});
  tree.set("rate_floor", dlcp.rate_floor);
  tree.set("loss_fill", kLossFills[loss.loss_fill]);
  tree.set("rescale", loss.rescale);
  tree.set("control_lossy", dlcp.control_lossy);
  return tree;
}

io::Json tcp_tree(const net::TcpOptions& tcp, bool dctcp) {
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
  const net::TransportOptions& transport = settings.options.transport;
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
  tree.set("kind", net::kTransportKinds[transport.kind]);
  return tree;
}

io::Json faults_tree(const net::PacketOptions& options) {
  io::Array losses;
  for (const net::LinkLoss& loss : options.link_loss) {
    losses.push_back(
        io::Object{{"link", std::int64_t{loss.link}}, {"probability", loss.probability}});
  }
  io::Array drops;
  for (const net::DropOnce& drop : options.drop_once) {
    drops.push_back(io::Object{{"link", std::int64_t{drop.link}},
                               {"flow", std::int64_t{drop.connection}},
                               {"seq", std::int64_t{drop.seq}},
                               {"nth", std::int64_t{drop.nth}}});
  }
  return io::Object{{"link_loss", std::move(losses)}, {"drop_packets_once", std::move(drops)}};
}

} // namespace

std::vector<std::string_view> transports_with(std::string_view key) {
  std::vector<std::string_view> names;
  for (const TransportKey& each : kTransportKeys) {
    for (std::size_t k = 0; each.key == key && k < net::kTransportKinds.all().size(); ++k) {
      if ((each.kinds >> k & 1U) != 0) {
        names.push_back(net::kTransportKinds.all()[k]);
      }
    }
  }
  return names;
}

void parse_transport(io::Fields& fields, const ParseContext& context, PacketSettings& settings) {
  const io::Json* json = fields.any("transport");
  if (json == nullptr || json->is_null()) {
    return;
  }
  settings.has_transport = true;
  net::TransportOptions& transport = settings.options.transport;
  if (json->is_string()) { // short for the object with defaults
    transport.kind = fields.word("transport", net::kTransportKinds, TransportKind::raw);
    return;
  }
  io::Fields own(*json, context.problems, fields.row("transport"));
  transport.kind = own.word("kind", net::kTransportKinds);
  transport.window_packets = count(own, "window_packets");
  parse_tcp(own, transport.tcp);
  parse_dlcp(own, context, transport.dlcp, settings.bounded_loss);
  if (own.has("kind")) {
    for (const TransportKey& each : kTransportKeys) {
      context.needs_meaning(own, each.key, (each.kinds & bit(transport.kind)) != 0,
                            "transport " + std::string(net::kTransportKinds[transport.kind]));
    }
  }
  own.no_more();
}

io::Json packet_tree(const PacketSettings& settings, const net::Fabric& fabric) {
  const net::PacketOptions& options = settings.options;
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
  tree.set("load_balancing", net::kLoadBalancings[options.load_balancing]);
  tree.set("spray_offset", options.spray_offset == net::SprayOffset::host ? "host" : "zero");
  tree.set("queue_discipline", net::kQueueDisciplines[options.queue_discipline]);
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
