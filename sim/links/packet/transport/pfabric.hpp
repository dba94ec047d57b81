#pragma once
// pFabric (PKT 5.5): each packet carries the number of packets of its message that are not
// acknowledged. Switches serve the message with the fewest left and drop packets of the message
// with the most left (ports.cpp). Every message has a fixed window, every packet gets an ACK, and
// when the timer of a message expires, all its outstanding packets are sent again.
//   window = ceil(base_rtt B / mtu) + 6 packets, 1 after 5 expiries in a row
//   timer = 3 base_rtt, restarted by every new ACK
// B is the rate of the sender's link.
#include <cstdint>
#include <vector>

#include "links/packet/core.hpp"

namespace stepsim::links {

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
