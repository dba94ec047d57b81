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

// Lower bounds of operations on nodes with several GPUs and network cards (CLU 4), derived from
// three times: the bytes that must leave a node through all of its cards, the bytes that must pass
// the ports of a GPU, and the latency of a message that reaches every node.
//
//   B_i   rate of a GPU inside its node        B_x   rate of all cards of a node
//   all-reduce   max(2 (N-1)/N n/B_x, 2 (P-1)/P n/(B_i + B_x/G), ceil(log2 N) alpha_e)
//
// A level that is absent has rate 0 and no term. In-network reduction sends every byte once instead
// of twice. The library model calls node_bound() with effective rates; bounds of schedules use the
// rates of their links.

struct NodeRates {
  double nodes{};     // N
  double gpus{};      // G
  double inner_Bps{}; // B_i, ignored for G = 1
  double nics_Bps{};  // B_x, ignored for N = 1
  double latency_s{}; // latency term of the operation
};

struct NodeBound {
  double seconds{};
  BoundKind kind{};
};

// Returns the bound. `bytes` are as in library_words.hpp. `in_network` (in-network reduction)
// changes the bound of an all-reduce only.
[[nodiscard]] NodeBound node_bound(Operation operation, double bytes, const NodeRates& rates,
                                   bool in_network = false);

// Returns the factor in busbw = algbw * factor (COL 10): 2 (P-1)/P for an all-reduce, (P-1)/P for
// reduce_scatter, allgather and alltoall, else 1.
[[nodiscard]] double bus_share(Operation operation, double ranks);

} // namespace stepsim::nccl
