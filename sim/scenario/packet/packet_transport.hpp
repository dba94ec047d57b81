#pragma once
// `transport` of the packet block: the protocol of the messages, with its keys (PKT 3.8, 5).
#include <string_view>
#include <vector>

#include "document/reader.hpp"
#include "scenario/packet/packet_settings.hpp"

namespace stepsim::study {

// Reads `transport`, a word or an object. A key that the transport does not use is a problem,
// unless leftovers are ignored.
void parse_transport(io::Fields& fields, const ParseContext& context, PacketSettings& settings);

// Sets the kind of the transport and the keys that it uses.
void add_transport(const PacketSettings& settings, io::Json& tree);

// The transports that use a key of the transport block, in the order of the words; empty if none
// does.
[[nodiscard]] std::vector<std::string_view> transports_with(std::string_view key);

} // namespace stepsim::study
