#pragma once
// Latency and rate of the links of a node type, for schedules of point-to-point messages (CLU 10).
//
//                    latency inside   latency between   rate inside       rate of a card
//   node type alone  2 us             8 us              r_n               card
//   calibrated       3.4 us in_simple 14 us net_simple  r_n bw_nvl        card bw_nic
//
// A switch that adds (NVLS, CLU 5.1) takes the rate inside times the efficiency of the generation,
// 0.85 of Hopper, times nvls, and starts in 25 us times nvls_lat. r_n is NodeType::ring_Bps; the
// factors are those of multipliers.hpp, 1 without a calibration. The latencies of a node type alone
// are assumed. Those of a calibration are the hops of the library's protocol `simple`, 5.7 us
// inside a node that is joined by PCIe.
#include "library/layout.hpp"
#include "library/multipliers.hpp"

namespace stepsim::library {

struct NodeLinks {
  double inner_latency_s{};
  double inner_Bps{}; // of a GPU inside its node, per direction
  double network_latency_s{};
  double network_Bps{}; // of one network card, per direction
  double nvls_startup_s{};
  double nvls_Bps{}; // of a GPU while the switch of its node adds; 0: it does not add
};

// `calibrated`: the multipliers of a calibration, null without one.
[[nodiscard]] NodeLinks node_links(const NodeType& node, const Multipliers* calibrated = nullptr);

} // namespace stepsim::library
