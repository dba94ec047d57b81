// Both ends of bounded loss. The sender counts what has not left the host: at 0 a round is over and
// the PROBE follows. All packets of a connection go at its rate, the most urgent message first;
// without rate control a message goes into the queue of the host at once.

#include "links/packet/transport/dlcp.hpp"

namespace stepsim::links {

void DlcpTransport::open(PacketCore& core, ConnectionId id) {
  Connection& connection = core.connections[id];
  connection.state = static_cast<std::uint32_t>(states_.size());
  const Picoseconds tau =
      connection.data.hops == 0
          ? 0
          : transmission(core.options.mtu_wire_bytes, core.ports[connection.first_link].rate_Bps) /
                connection.lanes;
  states_.push_back({.rate = DlcpRate(core.options.transport.dlcp, connection.base_rtt, tau)});
}

// Sender: a new message joins those of its connection.
void DlcpTransport::ready(PacketCore& core, MessageId message) {
  if (message >= transfers_.size()) {
    transfers_.resize(message + 1);
  }
  const ConnectionId id = core.specs[message].connection;
  const std::uint32_t packets = core.shapes[message].packets;
  Transfer& own = transfer(message);
  own.untransmitted = packets;
  own.received.assign(packets, false);
  own.dropped.assign(packets, false);
  if (core.options.transport.dlcp.rate_control == RateControl::none) {
    own.next_seq = packets;
    core.send_all(message, true);
    return;
  }
  State& state = states_[core.connections[id].state];
  add_to_send(core, state, message);
  pump(core, id, state);
}

// PKT 5.6: by (queue, ready time, message); within a message by seq.
void DlcpTransport::add_to_send(PacketCore& core, State& state, MessageId message) {
  const auto rank = [&core](MessageId id) {
    return std::tuple(core.specs[id].queue, core.specs[id].start, id);
  };
  const auto place = std::lower_bound(state.to_send.begin(), state.to_send.end(), message,
                                      [&](MessageId a, MessageId b) { return rank(a) < rank(b); });
  state.to_send.insert(place, message);
}

// Sends one packet if its time has come, and waits for the next. One timer per connection.
void DlcpTransport::pump(PacketCore& core, ConnectionId id, State& state) {
  if (state.to_send.empty() || state.pace_pending) {
    return;
  }
  if (state.next_send <= core.now) {
    emit(core, id, state);
  }
  if (!state.to_send.empty()) {
    state.pace_pending = true;
    core.push_timer(TimerKind::pace, id, id, state.next_send);
  }
}

void DlcpTransport::pace(PacketCore& core, ConnectionId id) {
  State& state = states_[core.connections[id].state];
  state.pace_pending = false;
  pump(core, id, state);
}

// The next packet of the most urgent message: lost ones first, then new ones. The gap to the packet
// after it is its transmission time over the rate, a fraction of the line, which is all links out
// of the host that the packets take.
void DlcpTransport::emit(PacketCore& core, ConnectionId id, State& state) {
  const MessageId message = state.to_send.front();
  Transfer& own = transfer(message);
  const bool again = own.again_next < own.again.size();
  const std::uint16_t wire = again ? send(core, message, own.again[own.again_next++], true)
                                   : send(core, message, own.next_seq++, false);
  const Connection& connection = core.connections[id];
  const Picoseconds time = core.ports.time_of(core.ports[connection.first_link], wire);
  state.next_send = core.now + std::llround(connection.stretch * static_cast<double>(time) /
                                            (state.rate.of_line() * connection.lanes));
  if (own.again_next == own.again.size() && own.next_seq == core.shapes[message].packets) {
    state.to_send.erase(state.to_send.begin());
  }
}

// Its bytes on the wire.
std::uint16_t DlcpTransport::send(PacketCore& core, MessageId message, std::uint32_t seq,
                                  bool again) {
  Packet packet = core.next_data(message, seq);
  packet.notify = true;
  if (again) {
    packet.retransmission = true;
    packet.drop_class = DropClass::protected_;
    packet.ect = true;
  }
  core.send(packet);
  return packet.wire;
}

// A data packet has left the host for good.
void DlcpTransport::transmitted(PacketCore& core, const Packet& packet) {
  const MessageId message = packet.message;
  Transfer& own = transfer(message);
  assert(own.untransmitted > 0 && "no packet leaves the host twice");
  core.results[message].retransmissions += packet.retransmission ? 1 : 0;
  if (--own.untransmitted == 0 && !own.stopped) {
    ++own.round;
    probe(core, message);
  }
}

// In the queue of the data: when the PROBE arrives, all of them have arrived or are lost. It is
// repeated only where control packets can be lost.
void DlcpTransport::probe(PacketCore& core, MessageId message) {
  Transfer& own = transfer(message);
  const ConnectionId id = core.specs[message].connection;
  Packet packet = core.packet(id, PacketKind::probe);
  packet.message = message;
  packet.queue = core.specs[message].queue;
  packet.seq = own.round;
  core.send(packet);
  own.answered = false;
  if (core.options.transport.dlcp.control_lossy) {
    core.set_timer(own.probe, TimerKind::probe, id, message,
                   core.now + 3 * core.connections[id].stretched_rtt());
  }
}

void DlcpTransport::probe_again(PacketCore& core, MessageId message) {
  Transfer& own = transfer(message);
  if (core.expired(own.probe, TimerKind::probe, core.specs[message].connection, message) &&
      !own.answered && !own.stopped) {
    probe(core, message);
  }
}

// At the sender: what the receiver misses is sent again.
void DlcpTransport::bitmap(PacketCore& core, const Packet& packet) {
  Transfer& own = transfer(packet.message);
  if (own.stopped || own.answered || packet.seq != own.round) {
    return; // an answer to a repeated PROBE
  }
  own.answered = true;
  own.again.swap(own.missing);
  own.again_next = 0;
  own.untransmitted = static_cast<std::uint32_t>(own.again.size());
  ++core.results[packet.message].probe_rounds;
  if (core.options.transport.dlcp.rate_control == RateControl::none) {
    own.again_next = own.again.size();
    for (const std::uint32_t seq : own.again) {
      send(core, packet.message, seq, true);
    }
    return;
  }
  State& state = states_[core.connections[packet.connection].state];
  add_to_send(core, state, packet.message);
  pump(core, packet.connection, state);
}

// At the sender: nothing of the message is needed any more.
void DlcpTransport::stop(PacketCore& core, const Packet& packet) {
  Transfer& own = transfer(packet.message);
  if (own.stopped) {
    return;
  }
  own.stopped = true;
  core.results[packet.message].sender_done = core.now;
  if (own.untransmitted == 0) {
    return;
  }
  State& state = states_[core.connections[packet.connection].state];
  const auto place = std::find(state.to_send.begin(), state.to_send.end(), packet.message);
  if (place != state.to_send.end()) {
    state.to_send.erase(place);
    const std::size_t fresh = core.shapes[packet.message].packets - own.next_seq;
    own.untransmitted -= static_cast<std::uint32_t>(fresh + own.again.size() - own.again_next);
  }
  own.untransmitted -= core.purge(packet.message);
  assert((own.untransmitted <= 1 || core.connections[packet.connection].data.path == kNone) &&
         "only the packet in service is left");
}

// The receiving end.

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
    const auto rtt = static_cast<double>(core.now - packet.sent_at) / connection.stretch;
    states_[connection.state].rate.feedback(
        {packet.tx_index, packet.count, packet.marked, std::llround(rtt)}, connection.sent);
    break;
  }
  case PacketKind::ack:
    assert(false && "bounded loss has no ACKs");
    break;
  }
}

// At the receiver. Packets after completion are wasted: the STOP was still on its way.
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
    core.deliver(packet);
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

// Of accounting only: neither end learns of it. A packet that is sent again and arrives is taken
// off the count.
void DlcpTransport::lost(PacketCore& core, const Packet& packet) {
  MessageResult& result = core.results[packet.message];
  Transfer& own = transfer(packet.message);
  if (!result.complete() && !own.received[packet.seq] && !own.dropped[packet.seq]) {
    own.dropped[packet.seq] = true;
    result.lost_network_bytes += packet.payload;
  }
}

// The bits of arrivals are given back at completion, so that memory follows the messages under way.
void DlcpTransport::finish(PacketCore& core, const Packet& packet) {
  Transfer& own = transfer(packet.message);
  std::vector<bool>().swap(own.received);
  std::vector<bool>().swap(own.dropped);
  core.complete(packet.message);
  reply(core, packet, PacketKind::stop);
}

// All that was sent has arrived or is lost: enough, or the list of what is missing.
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

// Counts of arrivals and marks go back to the rate control, every few packets and at least once per
// round trip.
void DlcpTransport::feedback(PacketCore& core, const Packet& packet, State& state) {
  const DlcpOptions& options = core.options.transport.dlcp;
  if (options.rate_control == RateControl::none) {
    return;
  }
  ++state.arrivals;
  state.marked += packet.ce ? 1 : 0;
  ++state.since_feedback;
  const Picoseconds base_rtt = core.connections[packet.connection].stretched_rtt();
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

// Rates are fractions of the line, from a small floor to 1, set once per window of packets: the
// next epoch ends with the last packet sent so far, so that each decision sees the effect of the
// one before.

// Feedback counts from the beginning: differences say what happened since the last one, whatever
// feedback was lost or overtaken. Packets that did not arrive count as marked.
void DlcpRate::feedback(const Feedback& feedback, std::uint32_t sent_so_far) {
  if (feedback.tx_index <= top_) {
    return;
  }
  const std::uint32_t sent = feedback.tx_index - top_;
  const std::uint32_t delivered = feedback.arrivals - arrivals_;
  const std::uint32_t marked = feedback.marked - marked_;
  bad_ += std::min(sent, marked + (sent > delivered ? sent - delivered : 0));
  total_ += sent;
  top_ = feedback.tx_index;
  arrivals_ = feedback.arrivals;
  marked_ = feedback.marked;
  if (feedback.tx_index <= epoch_) {
    return;
  }
  const double fraction = static_cast<double>(bad_) / static_cast<double>(total_);
  bad_ = 0;
  total_ = 0;
  epoch_ = sent_so_far;
  switch (control_) {
  case RateControl::none:
    break;
  case RateControl::dctcp:
    dctcp(fraction, static_cast<double>(feedback.rtt));
    break;
  case RateControl::timely:
    timely(static_cast<double>(feedback.rtt));
    break;
  }
}

// As DCTCP: a cut by half the average marked part, else one packet more per round trip.
void DlcpRate::dctcp(double fraction, double rtt) {
  alpha_ = (1 - g_) * alpha_ + g_ * fraction;
  rate_ = fraction > 0 ? std::max(floor_, rate_ * (1 - alpha_ / 2))
                       : std::min(1.0, rate_ + tau_ / std::max(base_rtt_, rtt));
}

// As TIMELY (Mittal et al., 2015): by the gradient of the round trip, within bounds of its length;
// five rounds in which it does not grow raise the rate faster.
void DlcpRate::timely(double rtt) {
  const double step = 1.0 / 64;
  difference_ = 0.125 * difference_ + 0.875 * (rtt_ == 0 ? 0 : rtt - rtt_);
  rtt_ = rtt;
  const double gradient = difference_ / base_rtt_;
  const bool between = rtt >= 2 * base_rtt_ && rtt <= 10 * base_rtt_;
  falling_ = between && gradient <= 0 ? falling_ + 1 : 0;
  if (rtt < 2 * base_rtt_) {
    rate_ += step;
  } else if (rtt > 10 * base_rtt_) {
    rate_ *= 1 - 0.8 * (1 - 10 * base_rtt_ / rtt);
  } else if (gradient <= 0) {
    rate_ += falling_ >= 5 ? 5 * step : step;
  } else {
    rate_ *= std::max(0.5, 1 - 0.8 * gradient);
  }
  rate_ = std::clamp(rate_, floor_, 1.0);
}

} // namespace stepsim::links
