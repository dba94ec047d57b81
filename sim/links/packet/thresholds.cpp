// 1.25e9 bytes/s are the 10 Gbit/s at which the thresholds are given; slower ports keep a least
// number of packets, since a burst does not shrink with the bandwidth.
#include "links/packet/thresholds.hpp"

namespace stepsim::links {

namespace {

// The given number of packets, else one that grows with the bandwidth, rounded, and not below
// `least`.
std::uint32_t threshold(const std::optional<std::uint32_t>& given, double least, double at_10_gbit,
                        double bandwidth_Bps) {
  return given ? *given
               : static_cast<std::uint32_t>(
                     std::max(least, std::round(at_10_gbit * bandwidth_Bps / 1.25e9)));
}

} // namespace

Thresholds thresholds(const PacketOptions& options, double bandwidth_Bps) {
  return {.mark = threshold(options.mark_packets, 20, 65, bandwidth_Bps),
          .droppable = threshold(options.drop_droppable, 6, 20, bandwidth_Bps),
          .middle = threshold(options.drop_middle, 15, 50, bandwidth_Bps),
          .protected_ = options.drop_protected.value_or(kNoThreshold)};
}

} // namespace stepsim::links
