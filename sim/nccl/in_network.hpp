#pragma once
// Formulas of reduction inside switches (CLU 5): in a node (NVLS), in nodes with a double tree
// across (nvls_tree), and in the network (collnet, SHARP). pair_parts applies them to a system.
namespace stepsim::nccl {

// Returns the seconds of NVLS. Every GPU reads its share of n bytes, reduced by the switch, and
// writes it back as a multicast, so it sends n + n/G bytes at `rate_Bps`: T = start-up + n (1 +
// 1/G) / rate. Derived, CLU 5.1.
[[nodiscard]] double nvls_seconds(double bytes, double gpus, double startup_s, double rate_Bps);

// Returns the bytes per second of nvls_tree: the lesser of the switch, rate / (1 + 1/G), and the
// cards of a node, which reach half of their rate if the double tree spans more than two nodes (CLU
// 5.2).
[[nodiscard]] double nvls_tree_Bps(double nodes, double gpus, double rate_Bps, double nics_Bps);

// Links of the three stages of collnet.
struct CollnetLinks {
  double nodes{};
  double gpus{};                 // G, per node
  double nics{};                 // R <= G
  double inner_latency_s{};      // alpha_i
  double inner_per_byte_s{};     // beta_i of a GPU
  double network_latency_s{};    // alpha_e
  double network_per_byte_s{};   // beta_e of a card
  double reduction_per_byte_s{}; // gamma
  double switch_latency_s{};     // sigma
};

// Returns the seconds of collnet: a ring reduce-scatter in the nodes, a sum in the network and a
// ring all-gather in the nodes, pipelined in C = `chunks` equal chunks of m bytes: t1 + t2 + t3 +
// (C - 1) max(t1, t2, t3) with
//   t1 = (G-1)(alpha_i + (beta_i + gamma) m/G)     t3 = (G-1)(alpha_i + beta_i m/G)
//   t2 = 2 alpha_e + sigma + ceil(G/R) beta_e m/G
// Derived, CLU 5.3.
[[nodiscard]] double collnet_seconds(double bytes, const CollnetLinks& links, int chunks);

// Returns the seconds of collnet with NVLS, as one stage, in place of the two rings: t1 + t2 +
// (C - 1) max(t1, t2), where t1 is nvls_seconds() of a chunk.
[[nodiscard]] double collnet_nvls_seconds(double bytes, const CollnetLinks& links, int chunks,
                                          double nvls_startup_s, double nvls_Bps);

} // namespace stepsim::nccl
