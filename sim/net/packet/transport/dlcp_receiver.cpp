// The receiving end of bounded-loss delivery.
#include <cassert>

#include "net/packet/transport/dlcp.hpp"

namespace stepsim::net {

void DlcpTransport::delivered(PacketCore& core, const Packet& packet) {
  switch (packet.kind) {
  case PacketKind::data:
    data(core, packet);
    break;
  case PacketKind::probe:
    answer_probe(core, packet);
    break;
  case PacketKind::bitmap:
    bitmap(core, packet);
    break;
  case PacketKind::stop:
    stop(core, packet);
    break;
  case PacketKind::feedback: {
    const Connection& connection = core.connections[packet.connection];
    states_[connection.state].rate.feedback(
        {packet.tx_index, packet.count, packet.marked, core.now - packet.sent_at}, connection.sent);
    break;
  }
  case PacketKind::ack:
    assert(false && "bounded loss has no ACKs");
    break;
  }
}

void DlcpTransport::data(PacketCore& core, const Packet& packet) {
  MessageResult& result = core.results[packet.message];
  Transfer& own = transfer(packet.message);
  if (result.complete()) {
    ++result.wasted_packets;
    result.wasted_bytes += packet.payload;
  } else if (own.received[packet.seq]) {
    ++result.duplicates;
  } else {
    own.received[packet.seq] = true;
    result.deliver(packet.payload);
    if (own.dropped[packet.seq]) {
      result.lost_network_bytes -= packet.payload;
    }
    const bool enough = core.options.transport.dlcp.early_stop
                            ? result.delivered_packets >= result.need
                            : result.delivered_packets == result.packets;
    if (enough) {
      finish(core, packet);
    }
  }
  feedback(core, packet, states_[core.connections[packet.connection].state]);
}

void DlcpTransport::lost(PacketCore& core, const Packet& packet) {
  MessageResult& result = core.results[packet.message];
  Transfer& own = transfer(packet.message);
  if (!result.complete() && !own.received[packet.seq] && !own.dropped[packet.seq]) {
    own.dropped[packet.seq] = true;
    result.lost_network_bytes += packet.payload;
  }
}

void DlcpTransport::finish(PacketCore& core, const Packet& packet) {
  Transfer& own = transfer(packet.message);
  std::vector<bool>().swap(own.received);
  std::vector<bool>().swap(own.dropped);
  core.complete(packet.message);
  reply(core, packet, PacketKind::stop);
}

void DlcpTransport::answer_probe(PacketCore& core, const Packet& packet) {
  const MessageResult& result = core.results[packet.message];
  if (result.complete()) {
    reply(core, packet, PacketKind::stop);
  } else if (result.delivered_packets >= result.need) {
    finish(core, packet);
  } else {
    Transfer& own = transfer(packet.message);
    own.missing.clear();
    for (std::uint32_t seq = 0; seq < result.packets; ++seq) {
      if (!own.received[seq]) {
        own.missing.push_back(seq);
      }
    }
    reply(core, packet, PacketKind::bitmap);
  }
}

void DlcpTransport::reply(PacketCore& core, const Packet& packet, PacketKind kind) {
  Packet answer = core.packet(packet.connection, kind);
  answer.message = packet.message;
  answer.seq = packet.seq; // of a PROBE: the round
  core.send(answer);
}

void DlcpTransport::feedback(PacketCore& core, const Packet& packet, State& state) {
  const DlcpOptions& options = core.options.transport.dlcp;
  if (options.rate_control == RateControl::none) {
    return;
  }
  ++state.arrivals;
  state.marked += packet.ce ? 1 : 0;
  ++state.since_feedback;
  const Picoseconds base_rtt = core.connections[packet.connection].base_rtt;
  const bool late = state.last_feedback != kNeverPs && core.now - state.last_feedback >= base_rtt;
  if (state.since_feedback < options.feedback_packets && !late) {
    return;
  }
  state.since_feedback = 0;
  state.last_feedback = core.now;
  Packet answer = core.packet(packet.connection, PacketKind::feedback);
  answer.tx_index = packet.tx_index;
  answer.seq = packet.tx_index;
  answer.sent_at = packet.sent_at;
  answer.count = state.arrivals;
  answer.marked = state.marked;
  core.send(answer);
}

} // namespace stepsim::net
