#pragma once
// The links of a job as a topology, from the times of messages of one size: of each pair of ranks
// alone, and of all ranks at once in shifts, where rank r sends to rank r + k for k = 1 .. P-1.
//
//   access rate of a rank   the fastest of its pairs alone: a pair is as fast as its slower end
//   switches                two ranks whose message is slowed in a shift, to more than kShared
//   times
//                           the usual ratio of shifted to alone, are on different switches. Ranks
//                           join, in their order, the first switch on which none was slowed against
//                           them
//   uplink of a switch      the most bytes per second that slowed messages of a shift carried into
//                           or out of it; if no message was slowed, the sum of its ranks' rates
//
//        core                     One switch: a star without uplinks. Rates in one direction alone
//       /    \   uplinks          stand for both.
//     sw0    sw1
//    /  \    /  \  access
//   r0  r1  r2  r3
#include <cstdint>
#include <vector>

#include "json/json.hpp"

namespace stepsim::calibrate::mpi {

inline constexpr double kShared = 1.3;

struct SharedTimes {
  std::uint32_t ranks{}; // P >= 2
  double bytes{};        // of each message
  // Seconds of a message without its latency, so that bytes / time is a rate.
  //   alone_s     [src x P + dst], both directions given, 0 on the diagonal
  //   shifted_s   [(k - 1) x P + dst], the message from rank dst - k (mod P) in shift k
  std::vector<double> alone_s, shifted_s;
};

struct FabricEstimate {
  std::vector<double> access_Bps;      // [P]
  std::vector<std::uint32_t> switches; // [P], from 0
  std::vector<double> uplink_Bps;      // [switch]; empty with one switch
  // How many times as long as this fabric says a shift by 1 takes, the median of the ranks: the
  // share of the hosts.
  double host_factor = 1;
};

// Throws SimulationError where a time of a pair is not above 0.
[[nodiscard]] FabricEstimate estimate_fabric(const SharedTimes& times);

// A file of kind topology whose hosts are r0, r1, .. in the order of the ranks; its links have no
// latency, which belongs to messages.
[[nodiscard]] io::Json topology_tree(const FabricEstimate& fabric);

} // namespace stepsim::calibrate::mpi
