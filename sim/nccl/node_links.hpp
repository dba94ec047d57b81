#pragma once
// Latency and rate of the links of a node type, for schedules of point-to-point messages (CLU 10).
//
//                    latency inside   latency between   rate inside       rate of a card
//   node type only   2 us             8 us              r_n               card
//   calibrated       3.4 us in_simple 14 us net_simple  r_n bw_nvl        card bw_nic
//
// r_n is NodeType::ring_Bps; in_simple, net_simple, bw_nvl, bw_nic, nvls and nvls_lat are factors
// of multipliers.hpp, 1 without a calibration. The latencies of a node type without a calibration
// are assumptions. The latencies with a calibration are hops of the library's protocol `simple`,
// with 5.7 us inside a node whose GPUs are connected by PCIe. A switch that adds (NVLS, CLU 5.1)
// has the rate inside times the efficiency of the generation (0.85 for Hopper) times nvls, and a
// start-up of 25 us times nvls_lat.
#include "nccl/layout.hpp"
#include "nccl/multipliers.hpp"

namespace stepsim::nccl {

struct NodeLinks {
  double inner_latency_s{};
  double inner_Bps{}; // per GPU and direction, inside a node
  double network_latency_s{};
  double network_Bps{}; // per network card and direction
  double nvls_startup_s{};
  double nvls_Bps{}; // per GPU while the switch of its node adds; 0: it does not add
};

// Returns the links. `calibrated` are the multipliers of a calibration, or null.
[[nodiscard]] NodeLinks node_links(const NodeType& node, const Multipliers* calibrated = nullptr);

} // namespace stepsim::nccl
