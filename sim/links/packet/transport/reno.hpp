#pragma once
// The sender's knowledge of its packets under selective acknowledgements (PKT 5.3). The receiver
// logs new packets as they arrive. An ACK carries the length of the log, so the sender knows all
// packets that had arrived by then, and ACKs need no list of packets.
//
//   lost = not received, with at least `threshold` packets above it received, and not sent again
//          since; at a timeout: every packet not received
//   in flight = sent, neither received nor lost
//
//   received 0 1 2 4 6 7, threshold 3: 3 is lost (4, 6, 7 above it), 5 is not
#include <deque>

#include "links/packet/core.hpp"

namespace stepsim::links {

class Scoreboard {
public:
  explicit Scoreboard(std::uint32_t threshold) : threshold_(threshold) {}

  // Records, at the receiver, a packet that had not arrived before.
  void arrived(std::uint32_t seq) {
    log_.push_back(seq);
    ++arrivals_;
  }
  // Returns the length of the log, which ACKs carry.
  [[nodiscard]] std::uint32_t arrivals() const { return arrivals_; }

  // Records the sending of the next new packet, or of a lost one.
  void sent(std::uint32_t seq);
  // Handles an ACK: the first `una` packets and the first `arrivals` packets of the log are
  // received. Of the packets that were not known to be received, returns the one that arrived last;
  // kNone if there is none.
  std::uint32_t acknowledged(std::uint32_t una, std::uint32_t arrivals);
  // Counts every packet that is not received as lost.
  void timeout();

  [[nodiscard]] std::uint32_t in_flight() const { return in_flight_; }
  [[nodiscard]] bool any_lost() const { return lost_ > 0; }
  [[nodiscard]] std::uint32_t first_lost(); // kNone if none is lost

private:
  enum class Status : std::uint8_t { in_flight, sent_again, lost, received };
  [[nodiscard]] Status& at(std::uint32_t seq) { return status_[seq - una_]; }
  [[nodiscard]] bool is_received(std::uint32_t seq) {
    return seq < una_ || at(seq) == Status::received;
  }
  void receive(std::uint32_t seq);
  void find_lost();

  std::uint32_t threshold_;
  std::deque<std::uint32_t> log_; // arrivals that the sender does not know
  std::uint32_t arrivals_ = 0, heard_ = 0;
  std::deque<Status> status_; // status of packets una_, una_ + 1, ...
  std::uint32_t una_ = 0;
  std::uint32_t in_flight_ = 0, lost_ = 0;
  std::uint32_t lost_from_ = 0; // no packet before it is lost
  std::uint32_t edge_ = 0;      // every packet before it has `threshold` received packets above it
  std::uint32_t above_ = 0;     // number of received packets from edge_ on
};

// TCP NewReno in packets, without handshake, on persistent connections; DCTCP is Reno that cuts its
// window by the fraction of marked packets (PKT 5.3, 5.4). Sequence numbers run over the
// connection; messages are appended in the order of submission and delivered in order.
//
//   alpha = (1 - g) alpha + g F, F = marked fraction of a window;   cwnd = cwnd (1 - alpha / 2)
//
// With selective acknowledgements every lost packet is known. A recovery halves the window once and
// sends the first lost packet at once, then lost packets before new ones while fewer than cwnd
// packets are in flight. The round trip is sampled at the last packet to arrive among those that
// the ACK reports for the first time. Without selective acknowledgements it is sampled at the
// packet before the first missing one, which may have arrived long before.

class RenoTransport {
public:
  void open(PacketCore& core, ConnectionId connection);
  void ready(PacketCore& core, MessageId message);
  void delivered(PacketCore& core, const Packet& packet); // data or ACK
  void timer(PacketCore& core, ConnectionId connection);  // event of the retransmission timer
  [[nodiscard]] double alpha(const PacketCore& core, ConnectionId connection) const {
    return states_[core.connections[connection].state].alpha;
  }

private:
  struct Range { // packets from `first` on belong to the message
    std::uint32_t first{};
    MessageId message{};
  };
  struct State {
    double cwnd = 0, ssthresh = std::numeric_limits<double>::infinity(); // packets
    // First packet not acknowledged, next to send, first never sent, number of packets in all
    // messages.
    std::uint32_t una = 0, next = 0, high = 0, total = 0;
    std::uint32_t duplicates = 0;
    std::int64_t recover = -1;
    bool recovery = false, sampled = false;
    std::uint32_t backoff = 1;
    double srtt = 0, rttvar = 0; // ps
    Picoseconds rto = 0, last_sent = 0;
    Timer timer{};
    double alpha = 1; // used by dctcp
    std::uint32_t acked = 0, marked = 0, window_end = 0;
    std::int64_t cut_end = -1;
    std::vector<Range> ranges{};
    std::size_t sending = 0;            // index in ranges of the last packet sent
    std::vector<Picoseconds> sent_at{}; // ring over una .. high; -1 = sent more than once
    std::uint32_t expected = 0;         // receiver: first missing packet
    std::size_t receiving = 0;          // index in ranges of `expected`
    std::vector<bool> received{};       // ring from `expected` on
  };

  void pump(PacketCore& core, ConnectionId id, State& state);
  void fill_window(PacketCore& core, ConnectionId id, State& state);
  void start_recovery(PacketCore& core, ConnectionId id, State& state, std::uint32_t seq);
  void emit(PacketCore& core, ConnectionId id, State& state, std::uint32_t seq);
  void grow(State& state);
  void restart_timer(PacketCore& core, ConnectionId id, State& state);
  void data(PacketCore& core, const Packet& packet, State& state);
  void ack(PacketCore& core, const Packet& packet, State& state);
  void new_ack(PacketCore& core, ConnectionId id, State& state, std::uint32_t ack);
  void duplicate_ack(PacketCore& core, ConnectionId id, State& state);
  void recover_lost(PacketCore& core, ConnectionId id, State& state);
  void dctcp(const TcpOptions& options, State& state, std::uint32_t newly, bool ce);
  void sample(const TcpOptions& options, State& state, Picoseconds now, std::uint32_t seq);
  MessageResult& result_at(PacketCore& core, State& state, std::uint32_t seq);
  std::size_t range_of(const State& state, std::uint32_t seq) const;

  [[nodiscard]] Scoreboard& scoreboard(const PacketCore& core, ConnectionId id) {
    return scoreboards_[core.connections[id].state];
  }

  std::vector<State> states_;
  std::vector<Scoreboard> scoreboards_; // [state], if there are selective acknowledgements
};

} // namespace stepsim::links
