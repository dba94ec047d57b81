#pragma once
// pFabric (PKT 5.5): packets carry how much of their message is left; switches serve the message
// with the least left and drop packets of the one with the most (ports.cpp). Senders keep a fixed
// window, every packet has its ACK, and one timer queues again whatever is outstanding.
//   window = ceil(base_rtt B / mtu) + 6 packets; timer = 3 base_rtt; after 5 expiries in a row: 1
// B: rate of the sender's link.
#include <cstdint>
#include <vector>

#include "net/packet/core.hpp"

namespace stepsim::net {

class PfabricTransport {
public:
  void ready(PacketCore& core, MessageId message);
  void delivered(PacketCore& core, const Packet& packet); // data or ACK
  void timer(PacketCore& core, MessageId message);

private:
  enum class Status : std::uint8_t { to_send, outstanding, acknowledged };
  struct Transfer {
    std::vector<Status> status{}; // [seq], at the sender
    std::vector<bool> sent{};     // [seq], at least once
    std::vector<bool> received{}; // [seq], at the receiver
    std::uint32_t next = 0;       // no packet before it is to be sent
    std::uint32_t outstanding = 0;
    std::uint32_t left = 0; // not acknowledged
    std::uint32_t window = 0;
    std::uint32_t expiries = 0; // in a row
    Timer timer{};
  };

  void pump(PacketCore& core, MessageId message);
  void data(PacketCore& core, const Packet& packet);
  void ack(PacketCore& core, const Packet& packet);
  void restart_timer(PacketCore& core, MessageId message);

  std::vector<Transfer> transfers_; // [message]
};

} // namespace stepsim::net
