#pragma once
// `background` of the packet block: random flows that load the network in addition to the training
// job (PKT 7.5).
#include "document/json.hpp"
#include "document/reader.hpp"
#include "links/fabric/fabric.hpp"
#include "scenario/packet/packet_settings.hpp"

namespace stepsim::study {

// Reads `background`. Call it after parse_transport(), because both transports must fit together.
// The load is a fraction of the bandwidth of each host, which `fabric` gives. Problems are
// reported, among them a load that would send a host more than its links carry.
void parse_background(io::Fields& fields, const ParseContext& context, const links::Fabric& fabric,
                      PacketSettings& settings);
// The resolved block, for a load above 0.
[[nodiscard]] io::Json background_tree(const links::BackgroundOptions& background);

} // namespace stepsim::study
