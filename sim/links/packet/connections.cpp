// Paths are chosen when a connection opens and kept, as ECMP does it with the header of a flow;
// only sprayed packets choose again at every hop. Everything random is a hash of names, so that the
// path of one packet does not depend on other traffic.
#include "links/packet/connections.hpp"

namespace stepsim::links {

namespace {

constexpr std::uint64_t kSprayStream = 2;

// The link of a sprayed packet: at random by a hash of all that names the packet, or in turn by its
// number, from an offset that spreads the hosts. Where only one link leads on, nothing is drawn.
LinkId sprayed_link(const PacketCore& core, const Packet& packet) {
  const Connection& connection = core.connections[packet.connection];
  const NodeId node = packet.hop == 0 ? connection.src : core.fabric.links[packet.link].to;
  const auto links = core.routes.next_links(node, connection.dst);
  if (links.size() == 1) {
    return links[0];
  }
  std::uint64_t choice = 0;
  if (core.options.load_balancing == LoadBalancing::spray_random) {
    choice = base::pick(base::hash(core.options.seed, kSprayStream, node, connection.src,
                                   connection.dst, connection.number, packet.tx_index),
                        links.size());
  } else {
    const std::uint64_t offset =
        core.options.spray_offset == SprayOffset::host ? connection.src : NodeId{0};
    choice = (packet.tx_index - 1 + offset) % links.size();
  }
  return links[choice];
}

// Paths lie one after the other in one array.
Way add_way(PacketCore& core, const std::vector<LinkId>& path) {
  const Way way{static_cast<std::uint32_t>(core.paths.size()),
                static_cast<std::uint16_t>(path.size())};
  core.paths.insert(core.paths.end(), path.begin(), path.end());
  return way;
}

} // namespace

LinkId next_link(const PacketCore& core, const Packet& packet) {
  return packet.path != kNone ? core.paths[packet.path + packet.hop] : sprayed_link(core, packet);
}

ConnectionId open_connection(PacketCore& core, const ConnectionSpec& spec) {
  assert(core.fabric.is_host(spec.src) && core.fabric.is_host(spec.dst) &&
         "connections join hosts");
  Connection connection{.src = spec.src, .dst = spec.dst, .number = spec.number};
  connection.kind = spec.kind.value_or(core.options.transport.kind);
  if (spec.src != spec.dst) {
    const bool sprayed = is_sprayed(core.options.load_balancing);
    const std::vector<LinkId> ecmp =
        core.routes.ecmp_path(spec.src, spec.dst, spec.number, core.options.seed);
    const bool given =
        core.options.load_balancing == LoadBalancing::explicit_path && !spec.path.empty();
    const std::vector<LinkId>& forward = given ? spec.path : ecmp;
    connection.control = add_way(core, ecmp);
    connection.data = given ? add_way(core, forward) : connection.control;
    if (sprayed) {
      connection.data.path = kNone;
      connection.lanes =
          static_cast<std::uint32_t>(core.routes.next_links(spec.src, spec.dst).size());
    }
    connection.back =
        add_way(core, core.routes.ecmp_path(spec.dst, spec.src, spec.number, core.options.seed));
    connection.first_link = forward.front();
    for (const LinkId link : forward) {
      const Port& port = core.ports[link];
      connection.base_rtt += 2 * port.latency +
                             transmission(core.options.mtu_wire_bytes, port.rate_Bps) +
                             transmission(core.options.control_bytes, port.rate_Bps);
    }
  }
  core.connections.push_back(connection);
  return static_cast<ConnectionId>(core.connections.size() - 1);
}

MessageId add_message(PacketCore& core, const MessageSpec& spec) {
  assert(spec.start >= core.now && "messages are handed over in the order of time");
  assert(spec.queue >= 1 && spec.queue < core.options.queues && "queue 0 is control");
  Connection& connection = core.connections[spec.connection];
  connection.stretch = spec.stretch;
  core.stretches = core.stretches || spec.stretch != 1;
  const TransportKind kind = connection.kind;
  const std::int64_t full = core.options.full_payload();
  const auto packets = static_cast<std::uint32_t>((spec.size_bytes + full - 1) / full);
  MessageShape shape{.packets = packets};
  shape.full_payload = static_cast<std::uint16_t>(full);
  shape.last_payload =
      static_cast<std::uint16_t>(packets == 0 ? 0 : spec.size_bytes - (packets - 1) * full);
  shape.extra_bytes =
      static_cast<std::uint16_t>(core.options.header_bytes + core.options.wire_overhead_bytes);
  shape.protected_ect = kind == TransportKind::dctcp || kind == TransportKind::dlcp ||
                        spec.drop_rule.kind != DropRule::Kind::all_protected;
  shape.rule = spec.drop_rule;
  MessageResult result{.start = spec.start};
  result.packets = packets;
  result.need = kind == TransportKind::dlcp
                    ? static_cast<std::uint32_t>(packets_needed(packets, spec.loss_bound))
                    : packets;
  result.size_bytes = spec.size_bytes;
  core.shapes.push_back(shape);
  core.results.push_back(result);
  core.specs.push_back(spec);
  ++core.unfinished;
  return static_cast<MessageId>(core.results.size() - 1);
}

// No path is faster: `need` packets one after the other through the slowest link, the last of them
// alone over the others (packets as short as the shortest). 0 where the first link of a
// sprayed packet is not known, or how long links take.
Picoseconds lower_bound(const PacketCore& core, MessageId message) {
  const Connection& connection = core.connections[core.specs[message].connection];
  if (core.results[message].need == 0 || connection.data.hops == 0 || connection.lanes > 1 ||
      core.stretches) {
    return 0;
  }
  const MessageShape& shape = core.shapes[message];
  const auto full = static_cast<std::uint16_t>(shape.full_payload + shape.extra_bytes);
  const auto last = static_cast<std::uint16_t>(shape.last_payload + shape.extra_bytes);
  const bool sprayed = connection.data.path == kNone;
  // Of sprayed packets only the way out of the host is known.
  const std::uint32_t hops = sprayed ? 1 : connection.data.hops;
  Picoseconds sum = 0;
  Picoseconds most = 0;
  for (std::uint32_t hop = 0; hop < hops; ++hop) {
    const Port& port =
        core.ports[sprayed ? connection.first_link : core.paths[connection.data.path + hop]];
    const Picoseconds time = core.ports.time_of(port, full);
    most = std::max(most, (core.results[message].need - 1) * time);
    sum += core.ports.time_of(port, last) + port.latency;
  }
  return sum + most;
}

} // namespace stepsim::links
