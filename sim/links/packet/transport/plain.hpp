#pragma once
// The two transports without recovery (PKT 5.1, 5.2).
//   raw     all packets of a message enter the host's queue at its start; a message ends when each
//           of its packets has arrived or is lost
//   window  at most `window_packets` packets of a connection are unacknowledged; every packet has
//           an ACK in the control queue; needs unlimited buffers

#include "links/packet/core.hpp"

namespace stepsim::links {

class RawTransport {
public:
  void ready(PacketCore& core, MessageId message);
  void delivered(PacketCore& core, const Packet& packet);
  void lost(PacketCore& core, const Packet& packet);

private:
  void settle_if_last(PacketCore& core, MessageId message);

  struct State {
    std::uint32_t lost = 0;
    Picoseconds last = kNeverPs; // last delivery
  };
  [[nodiscard]] State& state_of(MessageId message);
  std::vector<State> states_; // [message]
};

class WindowTransport {
public:
  void open(PacketCore& core, ConnectionId connection);
  void ready(PacketCore& core, MessageId message);
  void delivered(PacketCore& core, const Packet& packet); // data or ACK

private:
  void send(PacketCore& core, ConnectionId connection);

  struct State {
    std::uint32_t outstanding = 0;
    std::uint32_t next_seq = 0;        // in the message being sent
    std::size_t sending = 0;           // index in `messages`
    std::vector<MessageId> messages{}; // in the order of submission
  };
  std::vector<State> states_;
};

// pFabric (PKT 5.5): each packet carries the number of packets of its message that are not
// acknowledged. Switches serve the message with the fewest left and drop packets of the message
// with the most left (ports.cpp). Every message has a fixed window, every packet gets an ACK, and
// when the timer of a message expires, all its outstanding packets are sent again.
//   window = ceil(base_rtt B / mtu) + 6 packets, 1 after 5 expiries in a row
//   timer = 3 base_rtt, restarted by every new ACK
// B is the rate of the sender's link.

class PfabricTransport {
public:
  void ready(PacketCore& core, MessageId message);
  void delivered(PacketCore& core, const Packet& packet); // data or ACK
  void timer(PacketCore& core, MessageId message);

private:
  enum class Status : std::uint8_t { to_send, outstanding, acknowledged };
  struct Transfer {
    std::vector<Status> status{}; // [seq], at the sender
    std::vector<bool> sent{};     // [seq] sent at least once
    std::vector<bool> received{}; // [seq], at the receiver
    std::uint32_t next = 0;       // no packet with a lower seq waits to be sent
    std::uint32_t outstanding = 0;
    std::uint32_t left = 0;     // packets not acknowledged
    std::uint32_t window = 0;   // packets
    std::uint32_t expiries = 0; // consecutive expiries of the timer
    Timer timer{};
  };

  void pump(PacketCore& core, MessageId message);
  void data(PacketCore& core, const Packet& packet);
  void ack(PacketCore& core, const Packet& packet);
  void restart_timer(PacketCore& core, MessageId message);

  std::vector<Transfer> transfers_; // [message]
};

} // namespace stepsim::links
