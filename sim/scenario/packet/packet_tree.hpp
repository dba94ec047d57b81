#pragma once
// The packet block back as a tree.
#include "net/fabric/fabric.hpp"
#include "scenario/packet/packet_settings.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// Resolved. Thresholds that follow from the bandwidth of each link are left out where the links of
// switches differ, and where a port holds no more packets than that. Reading it again gives the
// same settings on the same fabric.
[[nodiscard]] io::Json packet_tree(const PacketSettings& settings, const net::Fabric& fabric);

} // namespace stepsim::study
