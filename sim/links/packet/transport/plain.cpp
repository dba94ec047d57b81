// Two transports without recovery. `raw` puts a message into the host's queue at once; `window`
// keeps a fixed number of packets under way, which is right only where nothing is lost.
#include "links/packet/transport/plain.hpp"

#include <cassert>

namespace stepsim::links {

RawTransport::State& RawTransport::state_of(MessageId message) {
  if (message >= states_.size()) {
    states_.resize(message + 1);
  }
  return states_[message];
}

void RawTransport::ready(PacketCore& core, MessageId message) { core.send_all(message, false); }

void RawTransport::delivered(PacketCore& core, const Packet& packet) {
  core.results[packet.message].deliver(packet.payload);
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
  result.deliver(packet.payload);
  if (result.delivered_packets == result.packets) {
    core.complete(packet.message);
  }
}

} // namespace stepsim::links
