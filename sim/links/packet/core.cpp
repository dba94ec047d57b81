// One packet through one port costs two events at most: its arrival at the far end, and the end of
// its transmission if somebody waits for the port. A packet that finds its port idle and leaves it
// idle costs the arrival alone.
#include "links/packet/core.hpp"

#include "base/collected.hpp"
#include "links/packet/connections.hpp"

namespace stepsim::links {

namespace {

constexpr std::uint64_t kLossStream = 5;
// Events from one look at all ports to the next, in debug builds.
[[maybe_unused]] constexpr std::uint64_t kChecksEvery = 512;

// The time from an event to the one it usually causes: a transmission and a propagation.
Picoseconds usual_step(const Fabric& fabric, const PacketOptions& options) {
  return base::greatest<Picoseconds>(fabric.links, 1, [&](const FabricLink& link) {
    return to_picoseconds(link.latency_s) +
           transmission(options.mtu_wire_bytes, std::llround(link.bandwidth_Bps));
  });
}

} // namespace

PacketCore::PacketCore(const Fabric& the_fabric, const Routes& the_routes,
                       const PacketOptions& the_options)
    : fabric(the_fabric), routes(the_routes), options(the_options),
      ports(the_fabric, options, pool, shapes), events(usual_step(the_fabric, the_options)) {
  if (!options.link_loss.empty()) {
    loss_.assign(fabric.links.size(), 0);
  }
  for (const LinkLoss& loss : options.link_loss) {
    loss_[loss.link] = loss.probability;
    ports[loss.link].faulty = true;
  }
  fault_counts_.assign(options.drop_once.size(), 0);
  for (const DropOnce& drop : options.drop_once) {
    ports[drop.link].faulty = true;
  }
}

// Packets are counted by what may happen to them: data by drop class, ACKs, control.
PacketCounts& PacketCore::flight_of(const Packet& packet) {
  switch (packet.kind) {
  case PacketKind::data:
    return flights_[static_cast<std::size_t>(packet.drop_class)];
  case PacketKind::ack:
    return flights_[kDropClasses];
  case PacketKind::probe:
  case PacketKind::bitmap:
  case PacketKind::stop:
  case PacketKind::feedback:
    break;
  }
  return flights_[kDropClasses + 1];
}

bool PacketCore::conserved() const {
  std::uint64_t in_flight = 0;
  for (const PacketCounts& flight : flights_) {
    if (flight.sent < flight.ended()) {
      return false;
    }
    in_flight += flight.sent - flight.ended();
  }
  return in_flight <= pool.live(); // the others wait in hosts
}

bool PacketCore::nothing_in_flight() const {
  return pool.live() == 0 && std::ranges::all_of(flights_, [](const PacketCounts& flight) {
           return flight.sent == flight.ended();
         });
}

bool PacketCore::waiting_ports_busy() const {
  for (LinkId link = 0; link < ports.size(); ++link) {
    if (ports[link].waiting != 0 && !ports[link].busy) {
      return false;
    }
  }
  return true;
}

void PacketCore::send(const Packet& packet) {
  const std::uint32_t index = pool.take(packet);
  const std::uint32_t lost = enqueue(next_link(*this, packet), index);
  assert(lost == kNone && "hosts take every packet");
  static_cast<void>(lost);
}

// Packets of a sprayed message wait at several ports of the host.
std::uint32_t PacketCore::purge(MessageId message) {
  const Connection& connection = connections[specs[message].connection];
  if (connection.data.path != kNone) {
    return ports.purge(connection.first_link, message);
  }
  std::uint32_t purged = 0;
  for (const LinkId link : routes.next_links(connection.src, connection.dst)) {
    purged += ports.purge(link, message);
  }
  return purged;
}

// One entry of the queue stands for all packets of the message (a train): the port takes them off
// one by one, so that a message of a million packets takes no more memory than one. Packets that
// are sprayed over several links out of the host wait one by one.
void PacketCore::send_all(MessageId message, bool notify) {
  const std::uint32_t count = shapes[message].packets;
  Connection& connection = connections[specs[message].connection];
  const bool train = count > 1 && connection.lanes == 1;
  for (std::uint32_t seq = 0; seq < (train ? 1 : count); ++seq) {
    Packet next = next_data(message, seq);
    next.notify = notify;
    next.train = train;
    next.count = train ? count : 0;
    connection.sent += train ? count - 1 : 0;
    send(next);
  }
}

void PacketCore::mark_to_start(LinkId link) {
  Port& port = ports[link];
  if (!port.to_start) {
    port.to_start = true;
    to_start.push_back(link);
  }
}

// The packet that is dropped for it, or it itself; kNone if there is room. A transmission that
// ended unseen leaves the occupancy first, because the rules of the port depend on it.
std::uint32_t PacketCore::enqueue(LinkId link, std::uint32_t packet) {
  Port& port = ports[link];
  if (port.busy && !port.end_pending && port.busy_until <= now) {
    ports.finish(link);
  }
  const Dropped dropped = ports.enqueue(link, packet);
  if (dropped.packet == packet) {
    return packet;
  }
  if (!port.busy) {
    mark_to_start(link);
  } else if (!port.end_pending) {
    port.end_pending = true;
    events.push({port.busy_until, event_key(EventClass::end) | link, 0, link});
  }
  return dropped.packet;
}

std::uint32_t PacketCore::end(LinkId link) {
  Port& port = ports[link];
  assert(port.busy && port.busy_until == now && "a transmission ends when it was to");
  const std::uint32_t left = port.in_service;
  ports.finish(link);
  if (port.waiting != 0) {
    mark_to_start(link);
  }
  return left;
}

// Faults of links: at random by a hash of link and transmission, so that another port's traffic
// does not change them, and the n-th time a chosen packet passes.
bool PacketCore::vanishes(LinkId link, const Packet& packet) {
  if (is_control(packet.kind)) {
    return false;
  }
  bool gone =
      !loss_.empty() && loss_[link] > 0 &&
      base::u01(options.seed, kLossStream, link, ports[link].counters.packets) < loss_[link];
  if (packet.kind == PacketKind::data) {
    for (std::size_t i = 0; i < options.drop_once.size(); ++i) {
      const DropOnce& drop = options.drop_once[i];
      if (drop.link == link && drop.seq == packet.seq &&
          drop.connection == connections[packet.connection].number) {
        gone = ++fault_counts_[i] == drop.nth || gone;
      }
    }
  }
  return gone;
}

// The port takes its next packet: it arrives after its transmission and the latency of the link.
void PacketCore::start(LinkId link) {
  Port& port = ports[link];
  const std::uint32_t index = ports.take(link);
  Packet& packet = pool[index];
  Picoseconds time = ports.time_of(port, packet.wire);
  Picoseconds latency = port.latency;
  if (stretches) {
    const Connection& connection = connections[packet.connection];
    time = std::max<Picoseconds>(1, connection.stretched(time));
    latency = connection.stretched(latency);
  }
  port.in_service = packet.notify && packet.hop == 0 ? index : kNone;
  port.busy = true;
  port.busy_until = now + time;
  port.service_queue = packet.queue;
  port.service_wire = packet.wire;
  port.service_counted = !is_control(packet.kind);
  ++port.counters.packets;
  port.counters.bytes += packet.wire;
  port.counters.busy += time;
  assert(port.counters.busy <= port.busy_until && "no link carries more than its capacity");
  if (port.faulty && vanishes(link, packet)) {
    packet.vanishes = true;
    ++port.counters.drops[static_cast<std::size_t>(DropCause::fault)];
  }
  if (packet.hop == 0) {
    ++flight_of(packet).sent;
    if (packet.kind == PacketKind::data) {
      ++results[packet.message].sent_packets;
    }
  }
  events.push({port.busy_until + latency, packet.order, packet.seq, index});
  if (port.waiting != 0 || port.always_ends || port.in_service != kNone) {
    port.end_pending = true;
    events.push({port.busy_until, event_key(EventClass::end) | link, 0, link});
  }
}

void PacketCore::start_ports() {
  if (to_start.size() > 1) {
    std::sort(to_start.begin(), to_start.end());
  }
  for (const LinkId link : to_start) {
    Port& port = ports[link];
    port.to_start = false;
    if (!port.busy && port.waiting != 0) { // a purge may have emptied it
      start(link);
    }
    assert((port.busy || port.waiting == 0) && "a port with packets is busy");
  }
  to_start.clear();
  assert((event_count % kChecksEvery != 0 || waiting_ports_busy()) &&
         "a port with packets is busy");
}

// At the far end of a link: lost there, delivered, or into the next port.
Arrival PacketCore::arrive(std::uint32_t index) {
  ++packet_hops;
  Packet& packet = pool[index];
  if (packet.vanishes) {
    ++flight_of(packet).vanished;
    return {Arrival::What::lost, index};
  }
  if (++packet.hop == packet.hops) {
    ++flight_of(packet).delivered;
    if (packet.kind == PacketKind::data) {
      Connection& connection = connections[packet.connection];
      results[packet.message].inversions += packet.seq < connection.last_seq ? 1 : 0;
      connection.last_seq = packet.seq;
    }
    return {Arrival::What::delivered, index};
  }
  const std::uint32_t lost = enqueue(next_link(*this, packet), index);
  if (lost == kNone) {
    return {};
  }
  ++flight_of(pool[lost]).dropped;
  return {Arrival::What::lost, lost};
}

void PacketCore::push_timer(TimerKind kind, ConnectionId connection, std::uint32_t index,
                            Picoseconds time) {
  const Connection& c = connections[connection];
  assert(index < 1U << kTimerIndexBits && "indices of timers fit");
  events.push({time, event_key(EventClass::timer, c.src, c.number), insertions_++,
               static_cast<std::uint32_t>(kind) << kTimerIndexBits | index});
}

void PacketCore::set_timer(Timer& timer, TimerKind kind, ConnectionId connection,
                           std::uint32_t index, Picoseconds deadline) {
  // A deadline that moves later costs no event: the one under way looks at it when it fires.
  timer.deadline = deadline;
  if (deadline < timer.event_at) {
    timer.event_at = deadline;
    push_timer(kind, connection, index, deadline);
  }
}

bool PacketCore::expired(Timer& timer, TimerKind kind, ConnectionId connection,
                         std::uint32_t index) {
  if (timer.event_at != now) {
    return false; // a later timer had been set before this one
  }
  timer.event_at = kNeverPs;
  if (timer.deadline <= now) {
    timer.deadline = kNeverPs;
    return true;
  }
  if (timer.deadline != kNeverPs) {
    set_timer(timer, kind, connection, index, timer.deadline);
  }
  return false;
}

// Data may take the given or sprayed way, PROBEs follow ECMP, and answers come back by ECMP too.
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
  assert(now >= result.start + lower_bound(*this, message) && "nothing is faster than its links");
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

} // namespace stepsim::links
