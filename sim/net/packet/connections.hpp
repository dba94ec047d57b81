#pragma once
// Connections and messages as a core gets them, and the way of a packet: how paths are chosen when
// a connection opens, or, where packets are sprayed, at every hop. A message says how it is cut
// into packets and how many of them it needs.
#include "net/packet/core.hpp"

namespace stepsim::net {

// A new connection between two hosts, with the paths of its packets, ACKs and control packets: ECMP
// by source, destination and number, or the given path. None inside a host. The id is the position
// in core.connections, whereas `number` is the name in hashes.
ConnectionId open_connection(PacketCore& core, const ConnectionSpec& spec);

// A new message of an open connection. It does not start before now, and its queue is 1 or higher,
// as queue 0 is control (both asserted).
MessageId add_message(PacketCore& core, const MessageSpec& spec);

// The link out of the node where the packet is. Sprayed packets take one of the shortest ways: at
// random by a hash of connection, packet and node, or in turn.
[[nodiscard]] LinkId next_link(const PacketCore& core, const Packet& packet);

// The least time from the start of the message to its completion: `need` packets one after the
// other through the slowest link of the path, the last of them alone over the others. Of sprayed
// packets only the link out of the host counts; 0 where several links lead out.
[[nodiscard]] Picoseconds lower_bound(const PacketCore& core, MessageId message);

} // namespace stepsim::net
