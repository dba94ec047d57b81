#pragma once
// The two transports without recovery (PKT 5.1, 5.2).
//   raw     all packets of a message enter the host's queue at its start; a message ends when each
//           of its packets has arrived or is lost
//   window  at most `window_packets` packets of a connection are unacknowledged; every packet has
//           an ACK in the control queue; needs unlimited buffers
#include <cstdint>
#include <vector>

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

} // namespace stepsim::links
