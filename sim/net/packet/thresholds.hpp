#pragma once
// At how many packets a switch port marks and drops (PKT 3.8). What options do not give grows with
// the bandwidth of the port, in proportion to the values that the papers give for 10 Gbit/s, but
// not below a least number for slow ports.
#include "net/packet/options.hpp"
#include "net/packet/shape.hpp"

namespace stepsim::net {

// In packets, for a switch port of this bandwidth (PKT 3.8); kNoThreshold = none: `protected_`
// where options do not give it.
struct Thresholds {
  // NOLINTNEXTLINE(readability-identifier-naming): `protected` alone is a keyword
  std::uint32_t mark{}, droppable{}, middle{}, protected_{};
};
// Values that the options give are taken as they are, for every port.
[[nodiscard]] Thresholds thresholds(const PacketOptions& options, double bandwidth_Bps);

} // namespace stepsim::net
