#pragma once
// The sending rate of a dlcp connection, as a fraction of the line rate. Feedback of the receiver
// changes it once per round trip (PKT 5.7). A round trip ends with the feedback for a packet that
// was sent after the last change, so one congestion event causes one cut.
//   dctcp    alpha = (1 - g) alpha + g F;  F > 0: R (1 - alpha / 2);  F = 0: R + mtu / RTT
//   timely   by the gradient of the round-trip time
//
// R is the rate, F the fraction of packets since the last change that were marked or are missing,
// and mtu / RTT one full packet per round trip.

#include "links/packet/core.hpp"

namespace stepsim::links {

struct Feedback {
  std::uint32_t tx_index{}; // number of the packet that is answered, from 1 (packet.hpp)
  std::uint32_t arrivals{}; // data packets at the receiver so far
  std::uint32_t marked{};   // how many of them were marked
  Picoseconds rtt{};        // time since that packet was sent
};

class DlcpRate {
public:
  // tau is the transmission time of a full packet at line rate.
  DlcpRate(const DlcpOptions& options, Picoseconds base_rtt, Picoseconds tau)
      : control_(options.rate_control), floor_(options.rate_floor), g_(options.g),
        base_rtt_(static_cast<double>(base_rtt)), tau_(static_cast<double>(tau)),
        alpha_(options.alpha0) {}

  // Handles feedback. `sent` is the index of the last data packet sent so far.
  void feedback(const Feedback& feedback, std::uint32_t sent);
  // Returns the sending rate as a fraction of the line rate.
  [[nodiscard]] double of_line() const { return rate_; }
  [[nodiscard]] double alpha() const { return alpha_; }

private:
  void dctcp(double fraction, double rtt);
  void timely(double rtt);

  RateControl control_;
  double floor_, g_, base_rtt_, tau_;
  double rate_ = 1, alpha_;
  std::uint32_t top_ = 0, arrivals_ = 0, marked_ = 0; // values of the last feedback
  std::uint32_t epoch_ = 0;
  std::uint64_t bad_ = 0, total_ = 0;
  double rtt_ = 0, difference_ = 0; // timely
  std::uint32_t falling_ = 0;       // consecutive round trips that did not grow
};

// Bounded-loss delivery (dlcp, PKT 5.6): a message of n packets and loss bound p is complete with
// need = ceil((1 - p) n) packets. Gaps and time-outs cause no retransmissions:
//
//   sender                         receiver
//   DATA ... DATA PROBE  ----->    delivered >= need: complete, STOP
//   missing packets      <-----    else BITMAP (what is missing)
//
// PROBE follows the last packet in the same queue. Each connection has its own sending rate
// (dlcp.hpp, PKT 5.7); with rate control `none`, all packets enter the host's queue at once.

class DlcpTransport {
public:
  void open(PacketCore& core, ConnectionId connection);
  void ready(PacketCore& core, MessageId message);
  void delivered(PacketCore& core, const Packet& packet);   // data or control, at either end
  void lost(PacketCore& core, const Packet& packet);        // data
  void transmitted(PacketCore& core, const Packet& packet); // the packet has left the host
  void pace(PacketCore& core, ConnectionId connection);     // event: the next packet may be emitted
  void probe_again(PacketCore& core, MessageId message); // event: repeats PROBE, if control_lossy
  [[nodiscard]] const DlcpRate& rate(const PacketCore& core, ConnectionId connection) const {
    return states_[core.connections[connection].state].rate;
  }

private:
  struct State {
    DlcpRate rate;
    std::vector<MessageId> to_send{}; // messages with packets to emit, most urgent first
    Picoseconds next_send = 0;
    bool pace_pending = false;
    std::uint32_t arrivals = 0, marked = 0, since_feedback = 0; // at the receiver
    Picoseconds last_feedback = kNeverPs;
  };
  struct Transfer {
    std::uint32_t next_seq = 0;         // first packet never emitted
    std::vector<std::uint32_t> again{}; // to retransmit
    std::size_t again_next = 0;         // index in `again`
    std::uint32_t untransmitted = 0;    // packets of this round that have not left the host
    std::uint32_t round = 0;            // number of PROBEs without repetitions
    // Whether a BITMAP has answered the last PROBE, and whether STOP has arrived.
    bool answered = true, stopped = false;
    Timer probe{};
    std::vector<bool> received{}, dropped{}; // at the receiver, until complete
    std::vector<std::uint32_t> missing{};    // content of the BITMAP in flight
  };

  void add_to_send(PacketCore& core, State& state, MessageId message);
  void emit(PacketCore& core, ConnectionId id, State& state);
  void pump(PacketCore& core, ConnectionId id, State& state);
  std::uint16_t send(PacketCore& core, MessageId message, std::uint32_t seq, bool again);
  void probe(PacketCore& core, MessageId message);
  void data(PacketCore& core, const Packet& packet);
  void feedback(PacketCore& core, const Packet& packet, State& state);
  void reply(PacketCore& core, const Packet& packet, PacketKind kind);
  void bitmap(PacketCore& core, const Packet& packet);
  void stop(PacketCore& core, const Packet& packet);
  void answer_probe(PacketCore& core, const Packet& packet);
  void finish(PacketCore& core, const Packet& packet);
  [[nodiscard]] Transfer& transfer(MessageId message) { return transfers_[message]; }

  std::vector<State> states_;
  std::vector<Transfer> transfers_; // [message]
};

} // namespace stepsim::links
