#pragma once
// Thresholds in packets at which a switch port marks and drops (PKT 3.8). Thresholds that the
// options leave open grow with the bandwidth of the port, in proportion to published values for 10
// Gbit/s, but have a minimum for slow ports.
#include "links/packet/background.hpp"

namespace stepsim::links {

// Packets, for one switch port; kNoThreshold = never. A data packet that finds at least so many
// packets in its queue is marked (`mark`) if its transport takes marks, else dropped by the number
// of its drop class; class not_ect has `mark`. `protected_` is kNoThreshold unless the options give
// it.
struct Thresholds {
  // NOLINTNEXTLINE(readability-identifier-naming): `protected` alone is a keyword
  std::uint32_t mark{}, droppable{}, middle{}, protected_{};
};
// Returns the thresholds of a switch port. Values in the options hold for every port, whatever its
// bandwidth.
[[nodiscard]] Thresholds thresholds(const PacketOptions& options, double bandwidth_Bps);

} // namespace stepsim::links
