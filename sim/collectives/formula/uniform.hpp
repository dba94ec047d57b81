#pragma once
// The common cost of a collective whose ranks and links are all alike, which closed forms need.

#include "collectives/collective.hpp"

namespace stepsim::collectives {

// Whether no two values differ.
[[nodiscard]] bool all_equal(const std::vector<double>& values);

struct UniformCost {
  // Cost of every pair; on two levels the link between nodes, or for flat algorithms on one node
  // the link inside it.
  LinkCost link;
  double reduction_s_per_byte{};
  double enter_s{}; // common entry time
};

// Returns the common cost; empty if links, reduction rates or entry times differ.
//   on a fabric            always empty
//   with measured steps    empty unless nothing is sent
//   on two levels          given for algorithms with phases over nodes (`node_phases`), for sums in
//                          switches, and for dedicated parameter servers (on other machines)
//   else on two levels     given only for one node, or one rank per node
[[nodiscard]] std::optional<UniformCost> uniform_cost(const Collective& collective);

// Returns c of COL 5.9: the number of ranks that share the busiest interface of a node; 1 on one
// level.
[[nodiscard]] std::uint32_t ranks_per_interface(const Collective& collective);

// Returns the total bytes: the sum of `sizes` for allgatherv with sizes, else `bytes`.
[[nodiscard]] double total_bytes(const Collective& collective);

// Whether the collective takes no time: one rank, or nothing to send (COL 2.7). A dedicated
// parameter server counts as another rank, so one worker still uses the network.
[[nodiscard]] bool is_empty(const Collective& collective);

// The symbols of the formulas of COL 5, as numbers for one collective.

struct Symbols {
  double P{};         // ranks
  double n{};         // bytes
  double L{};         // ceil(log2 P)
  double K{};         // floor(log2 P)
  double F{};         // 1 if P is not a power of two, else 0
  double f{};         // (P-1)/P
  double fq{};        // (q-1)/q, q = 2^K
  double alpha{};     // s per message that waits for the previous one: latency + delay
  double alpha_blk{}; // s per block after the first of a pipelined message
  double delay{};     // s of alpha during which no port is held; 0 for cost forms but exact
  double beta{};      // s per byte
  double gamma{};     // s per byte added
  bool serial{};      // additions hold the receive port (ReductionMode::serial)
};
// Returns the symbols. Needs `homogeneous()` (asserted): all ranks have one alpha, beta and gamma.
[[nodiscard]] Symbols symbols(const Collective& collective);

// Both are 0 for 0 and 1 ranks.
[[nodiscard]] std::uint32_t ceil_log2(std::uint32_t ranks);
[[nodiscard]] std::uint32_t floor_log2(std::uint32_t ranks);

} // namespace stepsim::collectives
