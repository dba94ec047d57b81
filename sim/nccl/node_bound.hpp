#pragma once
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
#include "nccl/library_words.hpp"

namespace stepsim::nccl {

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
