#pragma once
// Writes the packet block as a tree.
#include "document/json.hpp"
#include "links/fabric/fabric.hpp"
#include "scenario/packet/packet_settings.hpp"

namespace stepsim::study {

// The resolved block. Thresholds that follow from the bandwidth of a port are left out if the
// switch ports have different bandwidths, or if the buffer of a port is too small to reach the
// threshold. Reading the result gives the same settings on the same fabric.
[[nodiscard]] io::Json packet_tree(const PacketSettings& settings, const links::Fabric& fabric);

} // namespace stepsim::study
