#pragma once
// `background` of the packet block: random flows that load the network besides the training job
// (PKT 7.5).
#include "net/fabric/fabric.hpp"
#include "scenario/packet/packet_settings.hpp"
#include "json/json.hpp"
#include "json/reader.hpp"

namespace stepsim::study {

// Reads `background` of the packet block; call it after parse_transport, since the transports of
// both must go together. `fabric` gives the rates that loads are shares of. Problems are reported,
// one of them a load that would send a host more than its links carry.
void parse_background(io::Fields& fields, const ParseContext& context, const net::Fabric& fabric,
                      PacketSettings& settings);
// The block resolved, for a load above 0.
[[nodiscard]] io::Json background_tree(const net::BackgroundOptions& background);

} // namespace stepsim::study
