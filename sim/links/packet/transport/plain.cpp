// Two transports without recovery. `raw` puts a message into the host's queue at once; `window`
// keeps a fixed number of packets under way, which is right only where nothing is lost.
#include "links/packet/transport/plain.hpp"

namespace stepsim::links {

namespace {

// pfabric has next to no control of rates: a window of one bandwidth-delay product and a few
// packets from the first moment, drops at the ports in the order of urgency, and a short time-out.
// After five expiries in a row the sender probes with one packet at a time.

constexpr std::uint32_t kExtraWindow = 6;
constexpr std::uint32_t kPatience = 5; // expiries
constexpr std::uint8_t kDataQueue = 1;

} // namespace

RawTransport::State& RawTransport::state_of(MessageId message) {
  if (message >= states_.size()) {
    states_.resize(message + 1);
  }
  return states_[message];
}

void RawTransport::ready(PacketCore& core, MessageId message) { core.send_all(message, false); }

void RawTransport::delivered(PacketCore& core, const Packet& packet) {
  core.deliver(packet);
  state_of(packet.message).last = core.now;
  settle_if_last(core, packet.message);
}

void RawTransport::lost(PacketCore& core, const Packet& packet) {
  core.results[packet.message].lost_network_bytes += packet.payload;
  ++state_of(packet.message).lost;
  settle_if_last(core, packet.message);
}

// Every packet is delivered or lost: the message is complete, or it is known that it never will be.
void RawTransport::settle_if_last(PacketCore& core, MessageId message) {
  const MessageResult& result = core.results[message];
  const State& state = state_of(message);
  if (state.lost == 0 && result.delivered_packets == result.packets) {
    core.complete(message);
  } else if (result.delivered_packets + state.lost == result.packets) {
    core.settle(message, state.last);
  }
}

void WindowTransport::open(PacketCore& core, ConnectionId connection) {
  core.connections[connection].state = static_cast<std::uint32_t>(states_.size());
  states_.emplace_back();
}

void WindowTransport::ready(PacketCore& core, MessageId message) {
  const ConnectionId connection = core.specs[message].connection;
  states_[core.connections[connection].state].messages.push_back(message);
  send(core, connection);
}

// Messages of a connection one after the other, without a gap between them.
void WindowTransport::send(PacketCore& core, ConnectionId id) {
  State& state = states_[core.connections[id].state];
  while (state.sending < state.messages.size() &&
         state.outstanding < core.options.transport.window_packets) {
    const MessageId message = state.messages[state.sending];
    core.send(core.next_data(message, state.next_seq));
    ++state.outstanding;
    if (++state.next_seq == core.shapes[message].packets) {
      state.next_seq = 0;
      ++state.sending;
    }
  }
}

// Each packet is acknowledged by itself, and each ACK makes room for one.
void WindowTransport::delivered(PacketCore& core, const Packet& packet) {
  const ConnectionId id = packet.connection;
  if (packet.kind == PacketKind::ack) {
    --states_[core.connections[id].state].outstanding;
    send(core, id);
    return;
  }
  Packet ack = core.packet(id, PacketKind::ack);
  ack.seq = packet.seq;
  core.send(ack);
  MessageResult& result = core.results[packet.message];
  core.deliver(packet);
  if (result.delivered_packets == result.packets) {
    core.complete(packet.message);
  }
}

// Every message has a window of its own; connections have no state.
void PfabricTransport::ready(PacketCore& core, MessageId message) {
  if (message >= transfers_.size()) {
    transfers_.resize(message + 1);
  }
  Transfer& own = transfers_[message];
  const Connection& connection = core.connections[core.specs[message].connection];
  const std::uint32_t packets = core.shapes[message].packets;
  const Picoseconds tau =
      transmission(core.options.mtu_wire_bytes, core.ports[connection.first_link].rate_Bps);
  own.status.assign(packets, Status::to_send);
  own.sent.assign(packets, false);
  own.received.assign(packets, false);
  own.left = packets;
  own.window =
      static_cast<std::uint32_t>((connection.lanes * connection.base_rtt + tau - 1) / tau) +
      kExtraWindow;
  pump(core, message);
  restart_timer(core, message);
}

// A packet carries how many packets of its message are not acknowledged: its urgency at ports.
void PfabricTransport::pump(PacketCore& core, MessageId message) {
  Transfer& own = transfers_[message];
  const std::uint32_t window = own.expiries >= kPatience ? 1 : own.window;
  for (; own.next < own.status.size() && own.outstanding < window; ++own.next) {
    if (own.status[own.next] != Status::to_send) {
      continue;
    }
    Packet packet = core.next_data(message, own.next);
    packet.queue = kDataQueue;
    packet.count = own.left;
    packet.retransmission = own.sent[own.next];
    core.results[message].retransmissions += own.sent[own.next] ? 1 : 0;
    own.sent[own.next] = true;
    own.status[own.next] = Status::outstanding;
    ++own.outstanding;
    core.send(packet);
  }
}

void PfabricTransport::restart_timer(PacketCore& core, MessageId message) {
  const ConnectionId id = core.specs[message].connection;
  core.set_timer(transfers_[message].timer, TimerKind::expiry, id, message,
                 core.now + 3 * core.connections[id].stretched_rtt());
}

// No ACK for three round trips: all that is outstanding is to be sent again.
void PfabricTransport::timer(PacketCore& core, MessageId message) {
  Transfer& own = transfers_[message];
  if (!core.expired(own.timer, TimerKind::expiry, core.specs[message].connection, message)) {
    return;
  }
  ++own.expiries;
  ++core.results[message].timeouts;
  core.purge(message); // what has not left the host is queued again, not twice
  for (std::size_t seq = own.status.size(); seq-- > 0;) {
    if (own.status[seq] == Status::outstanding) {
      own.status[seq] = Status::to_send;
      own.next = std::min(own.next, static_cast<std::uint32_t>(seq));
    }
  }
  own.outstanding = 0;
  pump(core, message);
  restart_timer(core, message);
}

void PfabricTransport::delivered(PacketCore& core, const Packet& packet) {
  if (packet.kind == PacketKind::ack) {
    ack(core, packet);
  } else {
    data(core, packet);
  }
}

// At the receiver: each packet is acknowledged by itself, also the ones that come twice, whose
// first ACK may still be on its way.
void PfabricTransport::data(PacketCore& core, const Packet& packet) {
  Transfer& own = transfers_[packet.message];
  MessageResult& result = core.results[packet.message];
  if (result.complete() || own.received[packet.seq]) {
    ++result.duplicates;
  } else {
    own.received[packet.seq] = true;
    core.deliver(packet);
    if (result.delivered_packets == result.packets) {
      std::vector<bool>().swap(own.received);
      core.complete(packet.message);
    }
  }
  Packet answer = core.packet(packet.connection, PacketKind::ack);
  answer.message = packet.message;
  answer.seq = packet.seq;
  core.send(answer);
}

void PfabricTransport::ack(PacketCore& core, const Packet& packet) {
  Transfer& own = transfers_[packet.message];
  own.expiries = 0;
  if (own.left == 0 || own.status[packet.seq] == Status::acknowledged) {
    return;
  }
  own.outstanding -= own.status[packet.seq] == Status::outstanding ? 1 : 0;
  own.status[packet.seq] = Status::acknowledged;
  if (--own.left == 0) {
    own.timer.deadline = kNeverPs;
    std::vector<Status>().swap(own.status);
    std::vector<bool>().swap(own.sent);
    return;
  }
  pump(core, packet.message);
  restart_timer(core, packet.message);
}

} // namespace stepsim::links
