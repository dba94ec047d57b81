#pragma once
// Estimates the topology of a job of P ranks from the times of messages of one size: of each pair
// of ranks alone, and of all ranks at once in shift k = 1 .. P-1, in which rank r sends to rank
// r + k (mod P). A message is slowed if its ratio of shifted to alone is above kShared times the
// usual ratio, the lower quartile of all ratios (at least 1).
//
//   access rate of a rank   the rate of its fastest pair alone, because a pair is as fast as its
//                           slower end
//   switches                two ranks with a slowed message between them are on different switches.
//                           In rank order, each rank joins the first switch on which no rank has a
//                           slowed message to or from it
//   uplink of a switch      the most bytes per second that crossed it in one direction, by the
//                           median time of these messages, in a shift in which one of them was
//                           slowed; if none that crossed it ever was, the sum of the access rates
//                           of its ranks
//
//        core                     A single switch has no uplink, and there is no core. Each link
//       /    \   uplinks          has one rate, for both directions.
//     sw0    sw1
//    /  \    /  \  access
//   r0  r1  r2  r3

#include "document/json.hpp"

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
  // Measured time of a message in shift 1 divided by its time on this fabric, the median over the
  // ranks. Above 1, the hosts and not the links slow the ranks when all send at once.
  double host_factor = 1;
};

// Throws SimulationError if the time of a pair alone is not above 0; shifted_s is not checked.
[[nodiscard]] FabricEstimate estimate_fabric(const SharedTimes& times);

// A file of kind topology whose hosts are r0, r1, .. in the order of the ranks. Its links have
// latency 0, because the estimated latency is a cost of each message.
[[nodiscard]] io::Json topology_tree(const FabricEstimate& fabric);

} // namespace stepsim::calibrate::mpi
