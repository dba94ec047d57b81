#pragma once
// `background` of the packet block: random flows that load the network besides the training job
//.
#include "net/fabric/fabric.hpp"
#include "scenario/packet/packet_settings.hpp"
#include "json/json.hpp"
#include "json/reader.hpp"

namespace stepsim::study {

// Reads `background` of the packet block; after the transport, which carries it. Problems are
// reported, one of them a load that no host could send.
// `fabric` gives the rates that loads are shares of.
void parse_background(io::Fields& fields, const ParseContext& context, const net::Fabric& fabric,
                      PacketSettings& settings);
// The block resolved, for a load above 0.
[[nodiscard]] io::Json background_tree(const net::BackgroundOptions& background);

} // namespace stepsim::study
