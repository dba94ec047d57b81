#pragma once
// Creates the connections and messages of a core, and routes packets: paths are chosen when a
// connection opens, or at every hop if packets are sprayed. Adding a message fixes how it is cut
// into packets and how many packets complete it.
#include "links/packet/core.hpp"

namespace stepsim::links {

// Opens a connection between two hosts, with the paths of its packets, ACKs and control packets: by
// ECMP over source, destination and number. With load balancing explicit_path its data packets take
// the given path, if there is one. A connection inside a host has no path. The id is an index in
// core.connections; hashes use `number`.
ConnectionId open_connection(PacketCore& core, const ConnectionSpec& spec);

// Adds a message to an open connection. It must not start before now, and its queue must be 1 or
// higher, because queue 0 is for control packets (both asserted).
MessageId add_message(PacketCore& core, const MessageSpec& spec);

// Returns the link on which the packet leaves its node. Sprayed packets take one of the shortest
// paths: at random, by a hash of connection, packet and node, or in turn.
[[nodiscard]] LinkId next_link(const PacketCore& core, const Packet& packet);

// Returns the least time from the start of the message to its completion: `need` packets one after
// the other on the slowest link of the path, and the last packet alone on the other links. For
// sprayed packets only the link out of the host is included; 0 if several links lead out, or
// links are stretched.
[[nodiscard]] Picoseconds lower_bound(const PacketCore& core, MessageId message);

} // namespace stepsim::links
