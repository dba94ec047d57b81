// The numbers of steps are those of PKT 5.3: 1 send what the window allows, 2 the receiver's ACK, 3
// a new ACK, 4 a duplicate one, 5 the time-out. `una` is the first packet not acknowledged, `next`
// the next to send, `high` the first never sent; after a time-out `next` goes back to `una`.
#include "links/packet/transport/reno.hpp"

namespace stepsim::links {

namespace {
constexpr Picoseconds kSentTwice = -1;
constexpr std::uint32_t kMaxBackoff = 64;
} // namespace

// A connection keeps its window from one message to the next.
void RenoTransport::open(PacketCore& core, ConnectionId connection) {
  const TcpOptions& options = core.options.transport.tcp;
  core.connections[connection].state = static_cast<std::uint32_t>(states_.size());
  State state;
  state.cwnd = options.initial_window;
  state.rto = to_picoseconds(options.rto_initial_s);
  state.alpha = options.alpha0;
  states_.push_back(state);
  if (options.sack) {
    scoreboards_.emplace_back(options.duplicate_acks);
  }
}

// The message is appended to the sequence of packets. An idle connection starts with its initial
// window again if the options ask for it: what the window was says nothing about the network now.
void RenoTransport::ready(PacketCore& core, MessageId message) {
  const ConnectionId id = core.specs[message].connection;
  State& state = states_[core.connections[id].state];
  const TcpOptions& options = core.options.transport.tcp;
  if (options.restart_after_idle && state.una == state.total &&
      core.now - state.last_sent > state.rto) {
    state.cwnd = std::min(state.cwnd, options.initial_window);
  }
  state.ranges.push_back({state.total, message});
  state.total += core.shapes[message].packets;
  pump(core, id, state);
}

void RenoTransport::delivered(PacketCore& core, const Packet& packet) {
  State& state = states_[core.connections[packet.connection].state];
  if (packet.kind == PacketKind::ack) {
    ack(core, packet, state);
  } else {
    data(core, packet, state);
  }
}

// The range that holds the packet: the last with first <= seq.
std::size_t RenoTransport::range_of(const State& state, std::uint32_t seq) const {
  const auto after =
      std::upper_bound(state.ranges.begin(), state.ranges.end(), seq,
                       [](std::uint32_t value, const Range& range) { return value < range.first; });
  return static_cast<std::size_t>(after - state.ranges.begin()) - 1;
}

MessageResult& RenoTransport::result_at(PacketCore& core, State& state, std::uint32_t seq) {
  return core.results[state.ranges[range_of(state, seq)].message];
}

// Both rings twice as large.
void RenoTransport::grow(State& state) {
  const std::size_t size = state.sent_at.size();
  std::vector<Picoseconds> sent_at(std::max<std::size_t>(64, 2 * size), kSentTwice);
  std::vector<bool> received(sent_at.size(), false);
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::uint32_t sent = state.una + i;
    const std::uint32_t got = state.expected + i;
    sent_at[sent % sent_at.size()] = state.sent_at[sent % size];
    received[got % received.size()] = state.received[got % size];
  }
  state.sent_at.swap(sent_at);
  state.received.swap(received);
}

// Sends packet `seq`, for the first time or again. Which message it belongs to is found from the
// last one sent: packets mostly go in order.
void RenoTransport::emit(PacketCore& core, ConnectionId id, State& state, std::uint32_t seq) {
  while (state.sending + 1 < state.ranges.size() && state.ranges[state.sending + 1].first <= seq) {
    ++state.sending;
  }
  if (seq < state.ranges[state.sending].first) {
    state.sending = range_of(state, seq);
  }
  const Range range = state.ranges[state.sending];
  Packet packet = core.next_data(range.message, seq - range.first);
  packet.seq = seq;
  if (seq - state.una >= state.sent_at.size()) {
    grow(state);
  }
  Picoseconds& sent_at = state.sent_at[seq % state.sent_at.size()];
  if (seq < state.high) {
    sent_at = kSentTwice;
    packet.retransmission = true;
    ++core.results[range.message].retransmissions;
    if (packet.ect && !core.options.transport.tcp.retransmissions_ect) {
      packet.ect = false;
      packet.drop_class = DropClass::not_ect;
    }
  } else {
    sent_at = core.now;
    state.high = seq + 1;
  }
  if (core.options.transport.tcp.sack) {
    scoreboard(core, id).sent(seq);
  }
  state.last_sent = core.now;
  core.send(packet);
}

// Step 1 of PKT 5.3.
void RenoTransport::pump(PacketCore& core, ConnectionId id, State& state) {
  if (core.options.transport.tcp.sack) {
    fill_window(core, id, state);
  } else {
    while (state.next < state.total &&
           static_cast<double>(state.next - state.una) < std::floor(state.cwnd)) {
      emit(core, id, state, state.next++);
    }
  }
  if (state.timer.deadline == kNeverPs && state.una < state.next) {
    restart_timer(core, id, state);
  }
}

// The same with selective acknowledgements; `next` is never taken back.
void RenoTransport::fill_window(PacketCore& core, ConnectionId id, State& state) {
  Scoreboard& known = scoreboard(core, id);
  while (static_cast<double>(known.in_flight()) < std::floor(state.cwnd)) {
    if (known.any_lost()) {
      emit(core, id, state, known.first_lost());
    } else if (state.next < state.total) {
      emit(core, id, state, state.next++);
    } else {
      return;
    }
  }
}

void RenoTransport::restart_timer(PacketCore& core, ConnectionId id, State& state) {
  core.set_timer(state.timer, TimerKind::retransmit, id, id, core.now + state.rto * state.backoff);
}

// At the receiver: every packet is answered by the first one that is missing (cumulative ACK) and
// by whether it was marked. A message is complete when all its packets, and all before them, are
// here.
void RenoTransport::data(PacketCore& core, const Packet& packet, State& state) {
  const std::size_t place = packet.seq % state.received.size();
  MessageResult& result = core.results[packet.message];
  if (packet.seq < state.expected || state.received[place]) {
    ++result.duplicates;
  } else {
    state.received[place] = true;
    if (core.options.transport.tcp.sack) {
      scoreboard(core, packet.connection).arrived(packet.seq);
    }
    core.deliver(packet);
    while (state.received[state.expected % state.received.size()]) {
      state.received[state.expected % state.received.size()] = false;
      ++state.expected;
      const Range& range = state.ranges[state.receiving];
      if (state.expected == range.first + core.shapes[range.message].packets) {
        core.complete(range.message);
        ++state.receiving;
      }
    }
  }
  Packet ack = core.packet(packet.connection, PacketKind::ack);
  ack.seq = state.expected;
  ack.ce = packet.ce;
  if (core.options.transport.tcp.sack) {
    ack.count = scoreboard(core, packet.connection).arrivals();
  }
  core.send(ack);
}

// Of the round trip, by a packet that was sent once.
void RenoTransport::sample(const TcpOptions& options, State& state, Picoseconds now,
                           std::uint32_t seq) {
  if (seq == kNone || state.sent_at[seq % state.sent_at.size()] == kSentTwice) {
    return;
  }
  // RFC 6298: a smoothed round trip and its mean deviation with gains 1/8 and 1/4. A packet sent
  // twice gives no sample, because nobody knows which of the two was acknowledged.
  const auto rtt = static_cast<double>(now - state.sent_at[seq % state.sent_at.size()]);
  if (state.sampled) {
    state.rttvar += (std::abs(state.srtt - rtt) - state.rttvar) / 4;
    state.srtt += (rtt - state.srtt) / 8;
  } else {
    state.srtt = rtt;
    state.rttvar = rtt / 2;
    state.sampled = true;
  }
  state.rto = std::max(to_picoseconds(options.rto_min_s),
                       static_cast<Picoseconds>(std::llround(state.srtt + 4 * state.rttvar)));
}

// At the sender. ACKs below `una` are old: later ones overtook them.
void RenoTransport::ack(PacketCore& core, const Packet& packet, State& state) {
  const ConnectionId id = packet.connection;
  const bool is_dctcp = core.connections[id].kind == TransportKind::dctcp;
  const TcpOptions& options = core.options.transport.tcp;
  std::uint32_t timed = packet.seq - 1; // gives the sample of the round trip
  if (options.sack) {
    timed = scoreboard(core, id).acknowledged(std::max(state.una, packet.seq), packet.count);
  }
  if (packet.seq > state.una) {
    const std::uint32_t newly = packet.seq - state.una;
    sample(options, state, core.now, timed);
    new_ack(core, id, state, packet.seq);
    recover_lost(core, id, state);
    if (is_dctcp) {
      dctcp(options, state, newly, packet.ce);
    }
    if (state.una == state.next) {
      state.timer.deadline = kNeverPs;
    } else {
      restart_timer(core, id, state);
    }
    pump(core, id, state);
  } else if (packet.seq == state.una && state.una < state.next) {
    duplicate_ack(core, id, state);
    recover_lost(core, id, state);
    if (is_dctcp) {
      dctcp(options, state, 0, packet.ce);
    }
    pump(core, id, state);
  }
}

// Step 3.
void RenoTransport::new_ack(PacketCore& core, ConnectionId id, State& state, std::uint32_t ack) {
  const auto newly = static_cast<double>(ack - state.una);
  state.una = ack;
  state.next = std::max(state.next, state.una);
  state.backoff = 1;
  if (!state.recovery) {
    state.duplicates = 0;
    // Slow start doubles the window per round trip; above the threshold it grows by one packet.
    state.cwnd += state.cwnd < state.ssthresh ? newly : newly / state.cwnd;
  } else if (std::int64_t{ack} > state.recover) {
    state.recovery = false;
    state.cwnd = state.ssthresh;
    state.duplicates = 0;
  } else if (!core.options.transport.tcp.sack) {
    // A partial ACK: the next packet is lost too. NewReno sends it at once and deflates the window
    // by what has left the network (RFC 6582).
    emit(core, id, state, state.una);
    state.cwnd = std::max(1.0, state.cwnd - newly + 1);
  }
}

// Step 4.
void RenoTransport::duplicate_ack(PacketCore& core, ConnectionId id, State& state) {
  const TcpOptions& options = core.options.transport.tcp;
  if (options.sack) {
    return;
  }
  ++state.duplicates;
  if (state.recovery) {
    // Each further duplicate tells that one more packet has left the network.
    state.cwnd += 1;
  } else if (state.duplicates == options.duplicate_acks &&
             std::int64_t{state.una} > state.recover) {
    start_recovery(core, id, state, state.una);
    state.cwnd += options.duplicate_acks;
  }
}

// Its part with selective acknowledgements, after any ACK.
void RenoTransport::recover_lost(PacketCore& core, ConnectionId id, State& state) {
  if (core.options.transport.tcp.sack && !state.recovery &&
      std::int64_t{state.una} > state.recover && scoreboard(core, id).any_lost()) {
    start_recovery(core, id, state, scoreboard(core, id).first_lost());
  }
}

// Halves the window once for all that was in flight: losses up to `recover` belong to this event.
void RenoTransport::start_recovery(PacketCore& core, ConnectionId id, State& state,
                                   std::uint32_t seq) {
  state.ssthresh = std::max((state.next - state.una) / 2.0, 2.0);
  state.cwnd = state.ssthresh;
  state.recover = std::int64_t{state.high} - 1;
  state.recovery = true;
  ++result_at(core, state, state.una).fast_retransmits;
  emit(core, id, state, seq);
}

// PKT 5.4: after the window was updated, before anything is sent.
void RenoTransport::dctcp(const TcpOptions& options, State& state, std::uint32_t newly, bool ce) {
  if (newly > 0) {
    state.acked += newly;
    state.marked += ce ? newly : 0;
    if (state.una >= state.window_end) {
      const double fraction = std::min(1.0, static_cast<double>(state.marked) / state.acked);
      state.alpha = (1 - options.g) * state.alpha + options.g * fraction;
      state.acked = 0;
      state.marked = 0;
      state.window_end = state.next;
    }
  }
  if (ce && std::int64_t{state.una} > state.cut_end && !state.recovery) {
    state.cwnd = std::max(2.0, state.cwnd * (1 - state.alpha / 2));
    state.ssthresh = state.cwnd;
    state.cut_end = std::int64_t{state.high} - 1;
  }
}

// Step 5.
void RenoTransport::timer(PacketCore& core, ConnectionId id) {
  State& state = states_[core.connections[id].state];
  if (!core.expired(state.timer, TimerKind::retransmit, id, id)) {
    return;
  }
  ++result_at(core, state, state.una).timeouts;
  state.ssthresh = std::max((state.next - state.una) / 2.0, 2.0);
  state.cwnd = 1;
  if (core.options.transport.tcp.sack) {
    scoreboard(core, id).timeout();
  } else {
    state.next = state.una;
  }
  state.duplicates = 0;
  state.recovery = false;
  state.recover = std::int64_t{state.high} - 1;
  // The next time-out waits twice as long, until an ACK of something new.
  state.backoff = std::min(2 * state.backoff, kMaxBackoff);
  pump(core, id, state);
  restart_timer(core, id, state);
}

} // namespace stepsim::links
