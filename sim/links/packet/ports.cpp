// Queues are linked lists through the pool of packets, so that a packet is moved between ports by
// its index. The bits of `waiting` say which queues have packets: the port serves the lowest.
#include "links/packet/ports.hpp"

#include <bit>

#include "links/packet/thresholds.hpp"

namespace stepsim::links {

namespace {

constexpr std::uint32_t kPfabricWaiting = 24; // data packets that wait at a port of a switch

// PKT 5.5: (remaining, src, message, seq).
bool less_left(const Packet& a, const Packet& b) {
  return std::tuple(a.count, host_of(a.order), a.message, a.seq) <
         std::tuple(b.count, host_of(b.order), b.message, b.seq);
}

} // namespace

Ports::Ports(const Fabric& fabric, const PacketOptions& options, PacketPool& pool,
             const std::vector<MessageShape>& shapes)
    : options_(options), pool_(pool), shapes_(shapes), queue_count_(options.queues),
      pfabric_(options.transport.kind == TransportKind::pfabric),
      round_robin_(options.queue_discipline == QueueDiscipline::flow_round_robin),
      ports_(fabric.links.size()), queues_(fabric.links.size() * options.queues),
      used_(fabric.switches, 0) {
  if (options.buffer.scope == BufferScope::shared) {
    queue_bytes_.assign(queues_.size(), 0);
  }
  const auto usual = static_cast<std::uint16_t>(options.full_payload() + options.header_bytes +
                                                options.wire_overhead_bytes);
  for (LinkId id = 0; id < ports_.size(); ++id) {
    const FabricLink& link = fabric.links[id];
    Port& port = ports_[id];
    port.rate_Bps = std::llround(link.bandwidth_Bps);
    port.usual_wire = usual;
    port.usual_time = transmission(usual, port.rate_Bps);
    port.latency = to_picoseconds(link.latency_s);
    if (!fabric.is_host(link.to)) {
      port.latency += to_picoseconds(options.switch_latency_s);
    }
    if (!fabric.is_host(link.from)) {
      set_limits(port, link, link.from - fabric.hosts);
    }
  }
}

void Ports::set_limits(Port& port, const FabricLink& link, std::uint32_t switch_index) {
  port.limited = true;
  const Thresholds at = thresholds(options_, link.bandwidth_Bps);
  port.mark = at.mark;
  port.drop = {at.protected_, at.middle, at.droppable, at.mark}; // not_ect: as marking
  switch (options_.buffer.scope) {
  case BufferScope::port:
    port.cap_packets = options_.buffer.packets;
    break;
  case BufferScope::shared:
    port.pool = switch_index;
    port.always_ends = true;
    break;
  case BufferScope::unlimited:
    break;
  }
}

// Whether the buffer has room. A shared pool gives a queue at most alpha times what is left of it
// (dynamic thresholds): a few queues can fill much of it, many get equal parts.
bool Ports::fits(LinkId link, const Packet& packet) const {
  const Port& port = ports_[link];
  switch (options_.buffer.scope) {
  case BufferScope::unlimited:
    return true;
  case BufferScope::port:
    return port.packets < port.cap_packets &&
           (port.cap_packets != kNoThreshold || port.bytes + packet.wire <= options_.buffer.bytes);
  case BufferScope::shared: {
    const std::int64_t left = options_.buffer.bytes - used_[port.pool];
    const std::int64_t queued = queue_bytes_[link * queue_count_ + packet.queue];
    return static_cast<double>(queued) < options_.buffer.alpha * static_cast<double>(left) &&
           packet.wire <= left;
  }
  }
  return true;
}

// Pools look after themselves.
bool Ports::within_cap(const Port& port, const Packet& packet) const {
  if (!port.limited || is_control(packet.kind) || options_.buffer.scope != BufferScope::port) {
    return true;
  }
  if (pfabric_ && packet.kind == PacketKind::data) {
    return true; // 24 waiting data packets, make_room()
  }
  return port.packets <= port.cap_packets &&
         (port.cap_packets != kNoThreshold || port.bytes <= options_.buffer.bytes);
}

void Ports::add_bytes(LinkId link, std::uint8_t queue, std::int64_t bytes) {
  Port& port = ports_[link];
  port.bytes += bytes;
  if (port.pool != kNone) {
    queue_bytes_[link * queue_count_ + queue] += bytes;
    used_[port.pool] += bytes;
    assert(used_[port.pool] <= options_.buffer.bytes && "a pool never holds more than its size");
  }
}

bool Ports::admit(LinkId link, Packet& packet, DropCause& cause) {
  Port& port = ports_[link];
  const Queue& queue = queue_of(link, packet.queue);
  if (!fits(link, packet)) {
    cause = DropCause::buffer;
    return false;
  }
  if (packet.kind != PacketKind::data) {
    return true;
  }
  if (packet.ect) {
    if (queue.packets >= port.mark) {
      packet.ce = true;
      ++port.counters.marks;
    }
    return true;
  }
  cause = DropCause::threshold;
  return queue.packets < port.drop[static_cast<std::size_t>(packet.drop_class)];
}

Dropped Ports::enqueue(LinkId link, std::uint32_t index) {
  Port& port = ports_[link];
  Packet& packet = pool_[index];
  Queue& queue = queue_of(link, packet.queue);
  const bool counted = !is_control(packet.kind);
  Dropped dropped;
  if (port.limited && (counted || options_.transport.dlcp.control_lossy)) {
    if (pfabric_ && packet.kind == PacketKind::data) {
      dropped = make_room(link, index);
    } else if (!admit(link, packet, dropped.cause)) {
      dropped.packet = index;
    }
    if (dropped.packet != kNone) {
      ++port.counters.drops[static_cast<std::size_t>(dropped.cause)];
    }
    if (dropped.packet == index) {
      return dropped;
    }
  }
  packet.link = link;
  if (counted) {
    const std::uint32_t count = packet.train ? packet.count : 1;
    queue.packets += count;
    port.packets += count;
    port.counters.max_queue = std::max(port.counters.max_queue, port.packets);
    if (port.limited) {
      add_bytes(link, packet.queue, packet.wire);
    }
  }
  assert(within_cap(port, packet) && "no port holds more than its cap");
  append(queue, index);
  port.waiting = static_cast<std::uint8_t>(port.waiting | 1U << packet.queue);
  return dropped;
}

void Ports::append(Queue& queue, std::uint32_t index) {
  Packet& packet = pool_[index];
  packet.next = kNone;
  std::uint32_t* head = &queue.head;
  std::uint32_t* tail = &queue.tail;
  if (round_robin_) {
    std::uint32_t turn = queue.head; // few connections share a queue at a time
    while (turn != kNone && turns_[turn].connection != packet.connection) {
      turn = turns_[turn].next;
    }
    if (turn == kNone) {
      turn = free_turn_;
      if (turn == kNone) {
        turn = static_cast<std::uint32_t>(turns_.size());
        turns_.emplace_back();
      } else {
        free_turn_ = turns_[turn].next;
      }
      turns_[turn] = {packet.connection, kNone, kNone, kNone};
      (queue.head == kNone ? queue.head : turns_[queue.tail].next) = turn;
      queue.tail = turn;
    }
    head = &turns_[turn].head;
    tail = &turns_[turn].tail;
  }
  (*head == kNone ? *head : pool_[*tail].next) = index;
  *tail = index;
}

// Makes the next packet of a train that has more than one left.
std::uint32_t Ports::split(std::uint32_t train) {
  Packet packet = pool_[train];
  packet.train = false;
  packet.count = 0;
  shape_data(packet, shapes_[packet.message], packet.seq, options_.seed);
  Packet& rest = pool_[train];
  ++rest.seq;
  ++rest.tx_index;
  if (--rest.count == 1) {
    rest.train = false;
    rest.count = 0;
    shape_data(rest, shapes_[rest.message], rest.seq, options_.seed);
  }
  return pool_.take(packet);
}

std::uint32_t Ports::first_of(std::uint32_t& head, std::uint32_t& tail) {
  const std::uint32_t index = head;
  if (pool_[index].train) {
    return split(index);
  }
  head = pool_[index].next;
  if (head == kNone) {
    tail = kNone;
  }
  return index;
}

// The connection whose turn it is gives one packet and joins the end again if it has more.
std::uint32_t Ports::take_turn(Queue& queue) {
  const std::uint32_t now = queue.head;
  Turn& turn = turns_[now];
  const std::uint32_t index = first_of(turn.head, turn.tail);
  queue.head = turn.next;
  if (queue.head == kNone) {
    queue.tail = kNone;
  }
  if (turn.head == kNone) {
    turn.next = free_turn_;
    free_turn_ = now;
  } else { // joins again at the end
    turn.next = kNone;
    (queue.head == kNone ? queue.head : turns_[queue.tail].next) = now;
    queue.tail = now;
  }
  return index;
}

std::uint32_t Ports::take(LinkId link) {
  Port& port = ports_[link];
  assert(port.waiting != 0 && "only a port with packets serves one");
  const auto number = static_cast<std::uint8_t>(std::countr_zero(port.waiting));
  Queue& queue = queue_of(link, number);
  std::uint32_t index = kNone;
  if (pfabric_ && number != 0) {
    index = take_smallest(queue);
  } else if (round_robin_) {
    index = take_turn(queue);
  } else {
    index = first_of(queue.head, queue.tail);
  }
  if (queue.head == kNone) {
    port.waiting = static_cast<std::uint8_t>(port.waiting & ~(1U << number));
  }
  return index;
}

void Ports::finish(LinkId link) {
  Port& port = ports_[link];
  assert(port.busy && "only a busy port ends a transmission");
  if (port.service_counted) {
    Queue& queue = queue_of(link, port.service_queue);
    assert(queue.packets > 0 && port.packets > 0 && "occupancies are not negative");
    --queue.packets;
    --port.packets;
    if (port.limited) {
      add_bytes(link, port.service_queue, -std::int64_t{port.service_wire});
    }
  }
  port.busy = false;
  port.end_pending = false;
}

// What takes packets from the middle of a queue: the choices of pfabric, and purges.
void Ports::unlink(std::uint32_t& head, std::uint32_t& tail, std::uint32_t before,
                   std::uint32_t packet) {
  (before == kNone ? head : pool_[before].next) = pool_[packet].next;
  if (tail == packet) {
    tail = before;
  }
}

// pfabric serves the message with the least left. Its later packets are the more urgent ones, since
// less was left when they were sent; of the chosen message the lowest number goes first, so that it
// arrives in order (PKT 5.5).
std::uint32_t Ports::take_smallest(Queue& queue) {
  std::uint32_t least = queue.head;
  for (std::uint32_t at = queue.head; at != kNone; at = pool_[at].next) {
    least = less_left(pool_[at], pool_[least]) ? at : least;
  }
  std::uint32_t chosen = kNone; // that message's lowest seq
  std::uint32_t before_chosen = kNone;
  for (std::uint32_t at = queue.head, before = kNone; at != kNone; at = pool_[at].next) {
    if (pool_[at].message == pool_[least].message &&
        (chosen == kNone || pool_[at].seq < pool_[chosen].seq)) {
      chosen = at;
      before_chosen = before;
    }
    before = at;
  }
  unlink(queue.head, queue.tail, before_chosen, chosen);
  return chosen;
}

Dropped Ports::make_room(LinkId link, std::uint32_t arriving) {
  Port& port = ports_[link];
  const std::uint8_t number = pool_[arriving].queue;
  Queue& queue = queue_of(link, number);
  if (port.pool != kNone &&
      pool_[arriving].wire > options_.buffer.bytes - used_[port.pool]) { // whoever fills it
    return {arriving, DropCause::buffer};
  }
  const bool serves_data = port.busy && port.service_counted && port.service_queue == number;
  if (queue.packets - (serves_data ? 1U : 0U) < kPfabricWaiting) {
    return {};
  }
  std::uint32_t most = arriving;
  std::uint32_t before_most = kNone;
  for (std::uint32_t at = queue.head, before = kNone; at != kNone; at = pool_[at].next) {
    if (less_left(pool_[most], pool_[at])) {
      most = at;
      before_most = before;
    }
    before = at;
  }
  if (most != arriving) {
    unlink(queue.head, queue.tail, before_most, most);
    --queue.packets;
    --port.packets;
    add_bytes(link, number, -std::int64_t{pool_[most].wire});
  }
  return {most, DropCause::buffer};
}

std::uint32_t Ports::purge_list(std::uint32_t& head, std::uint32_t& tail, std::uint32_t message) {
  std::uint32_t purged = 0;
  for (std::uint32_t at = head, before = kNone; at != kNone;) {
    const std::uint32_t next = pool_[at].next;
    if (pool_[at].message == message && pool_[at].kind == PacketKind::data) {
      purged += pool_[at].train ? pool_[at].count : 1;
      unlink(head, tail, before, at);
      pool_.give_back(at);
    } else {
      before = at;
    }
    at = next;
  }
  return purged;
}

std::uint32_t Ports::purge(LinkId link, std::uint32_t message) {
  Port& port = ports_[link];
  assert(!port.limited && "only hosts take packets back");
  std::uint32_t purged = 0;
  for (std::uint32_t number = 1; number < queue_count_; ++number) {
    if ((port.waiting >> number & 1U) == 0) {
      continue;
    }
    Queue& queue = queue_of(link, static_cast<std::uint8_t>(number));
    std::uint32_t here = 0;
    if (round_robin_) {
      for (std::uint32_t turn = queue.head, before = kNone; turn != kNone;) {
        const std::uint32_t next = turns_[turn].next;
        here += purge_list(turns_[turn].head, turns_[turn].tail, message);
        if (turns_[turn].head == kNone) {
          (before == kNone ? queue.head : turns_[before].next) = next;
          if (queue.tail == turn) {
            queue.tail = before;
          }
          turns_[turn].next = free_turn_;
          free_turn_ = turn;
        } else {
          before = turn;
        }
        turn = next;
      }
    } else {
      here = purge_list(queue.head, queue.tail, message);
    }
    queue.packets -= here;
    port.packets -= here;
    purged += here;
    if (queue.head == kNone) {
      port.waiting = static_cast<std::uint8_t>(port.waiting & ~(1U << number));
    }
  }
  return purged;
}

} // namespace stepsim::links
