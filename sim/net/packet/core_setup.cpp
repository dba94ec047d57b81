// Connections, their paths, and messages.
#include <algorithm>
#include <cassert>

#include "base/counter_hash.hpp"
#include "net/packet/core.hpp"

namespace stepsim::net {

namespace {
constexpr std::uint64_t kSprayStream = 2;
}

LinkId PacketCore::next_link(const Packet& packet) const {
  return packet.path != kNone ? paths[packet.path + packet.hop] : sprayed_link(packet);
}

LinkId PacketCore::sprayed_link(const Packet& packet) const {
  const Connection& connection = connections[packet.connection];
  const NodeId node = packet.hop == 0 ? connection.src : fabric.links[packet.link].to;
  const auto links = routes.next_links(node, connection.dst);
  if (links.size() == 1) {
    return links[0];
  }
  std::uint64_t choice = 0;
  if (options.load_balancing == LoadBalancing::spray_random) {
    choice = base::pick(base::hash(options.seed, kSprayStream, node, connection.src, connection.dst,
                                   connection.number, packet.tx_index),
                        links.size());
  } else {
    const std::uint64_t offset =
        options.spray_offset == SprayOffset::host ? connection.src : NodeId{0};
    choice = (packet.tx_index - 1 + offset) % links.size();
  }
  return links[choice];
}

Way PacketCore::add_way(const std::vector<LinkId>& path) {
  const Way way{static_cast<std::uint32_t>(paths.size()), static_cast<std::uint16_t>(path.size())};
  paths.insert(paths.end(), path.begin(), path.end());
  return way;
}

ConnectionId PacketCore::open(const ConnectionSpec& spec) {
  assert(fabric.is_host(spec.src) && fabric.is_host(spec.dst) && "connections join hosts");
  Connection connection{.src = spec.src, .dst = spec.dst, .number = spec.number};
  connection.kind = spec.kind.value_or(options.transport.kind);
  if (spec.src != spec.dst) {
    const bool sprayed = options.load_balancing == LoadBalancing::spray_random ||
                         options.load_balancing == LoadBalancing::spray_round_robin;
    const std::vector<LinkId> ecmp =
        routes.ecmp_path(spec.src, spec.dst, spec.number, options.seed);
    const bool given = options.load_balancing == LoadBalancing::explicit_path && !spec.path.empty();
    const std::vector<LinkId>& forward = given ? spec.path : ecmp;
    connection.control = add_way(ecmp);
    connection.data = given ? add_way(forward) : connection.control;
    if (sprayed) {
      connection.data.path = kNone;
    }
    connection.back = add_way(routes.ecmp_path(spec.dst, spec.src, spec.number, options.seed));
    connection.first_link = forward.front();
    for (const LinkId link : forward) {
      const Port& port = ports[link];
      connection.base_rtt += 2 * port.latency +
                             transmission(options.mtu_wire_bytes, port.rate_Bps) +
                             transmission(options.control_bytes, port.rate_Bps);
    }
  }
  connections.push_back(connection);
  return static_cast<ConnectionId>(connections.size() - 1);
}

MessageId PacketCore::add_message(const MessageSpec& spec) {
  assert(spec.start >= now && "messages are handed over in the order of time");
  assert(spec.queue >= 1 && spec.queue < options.queues && "queue 0 is control");
  const TransportKind kind = connections[spec.connection].kind;
  const std::int64_t full = options.full_payload();
  const auto packets = static_cast<std::uint32_t>((spec.size_bytes + full - 1) / full);
  MessageShape shape{.packets = packets};
  shape.full_payload = static_cast<std::uint16_t>(full);
  shape.last_payload =
      static_cast<std::uint16_t>(packets == 0 ? 0 : spec.size_bytes - (packets - 1) * full);
  shape.extra_bytes =
      static_cast<std::uint16_t>(options.header_bytes + options.wire_overhead_bytes);
  shape.protected_ect = kind == TransportKind::dctcp || kind == TransportKind::dlcp ||
                        spec.drop_rule.kind != DropRule::Kind::all_protected;
  shape.rule = spec.drop_rule;
  MessageResult result{.start = spec.start};
  result.packets = packets;
  result.need = kind == TransportKind::dlcp ? packets_needed(packets, spec.loss_bound) : packets;
  result.size_bytes = spec.size_bytes;
  shapes.push_back(shape);
  results.push_back(result);
  specs.push_back(spec);
  ++unfinished;
  return static_cast<MessageId>(results.size() - 1);
}

Packet PacketCore::packet(ConnectionId id, PacketKind kind) const {
  const Connection& connection = connections[id];
  const bool data = kind == PacketKind::data;
  const bool forward = data || kind == PacketKind::probe;
  const Way& way = data ? connection.data : forward ? connection.control : connection.back;
  Packet packet;
  packet.connection = id;
  packet.kind = kind;
  packet.path = way.path;
  packet.hops = way.hops;
  if (!data) {
    packet.wire =
        static_cast<std::uint16_t>(is_control(kind) ? options.control_bytes : options.ack_bytes);
  }
  packet.sent_at = now;
  packet.order = event_key(EventClass::arrival, forward ? connection.src : connection.dst,
                           connection.number, order_of(kind));
  return packet;
}

Packet PacketCore::next_data(MessageId message, std::uint32_t seq) {
  const MessageSpec& spec = specs[message];
  Packet next = packet(spec.connection, PacketKind::data);
  next.message = message;
  next.queue = spec.queue;
  next.seq = seq;
  next.tx_index = ++connections[spec.connection].sent;
  shape_data(next, shapes[message], seq, options.seed);
  return next;
}

void PacketCore::complete(MessageId message) {
  MessageResult& result = results[message];
  assert(!result.complete() && "a message is complete once");
  assert(result.delivered_packets >= result.need && "a complete message has what it needs");
  result.end = now;
  result.settled = true;
  assert(now >= result.start + lower_bound(message) && "nothing is faster than its links");
  assert((result.timeouts == 0 ||
          connections[specs[message].connection].kind != TransportKind::dlcp) &&
         "bounded loss has no timeouts");
  assert(conserved() && "packets neither appear nor disappear");
  --unfinished;
  done.push_back(message);
}

void PacketCore::settle(MessageId message, Picoseconds last) {
  results[message].end = last;
  results[message].settled = true;
  --unfinished;
  done.push_back(message);
}

// No way through is faster than: `need` packets one after the other through the slowest link, the
// last of them alone over the others (F1, F4; packets as short as the shortest).
Picoseconds PacketCore::lower_bound(MessageId message) const {
  const Connection& connection = connections[specs[message].connection];
  if (results[message].need == 0 || connection.data.hops == 0) {
    return 0;
  }
  const MessageShape& shape = shapes[message];
  const auto full = static_cast<std::uint16_t>(shape.full_payload + shape.extra_bytes);
  const auto last = static_cast<std::uint16_t>(shape.last_payload + shape.extra_bytes);
  const bool sprayed = connection.data.path == kNone;
  if (sprayed && routes.next_links(connection.src, connection.dst).size() > 1) {
    return 0;
  }
  // Of sprayed packets only the way out of the host is known.
  const std::uint32_t hops = sprayed ? 1 : connection.data.hops;
  Picoseconds sum = 0;
  Picoseconds most = 0;
  for (std::uint32_t hop = 0; hop < hops; ++hop) {
    const Port& port = ports[sprayed ? connection.first_link : paths[connection.data.path + hop]];
    const Picoseconds time = ports.time_of(port, full);
    most = std::max(most, (results[message].need - 1) * time);
    sum += ports.time_of(port, last) + port.latency;
  }
  return sum + most;
}

} // namespace stepsim::net
