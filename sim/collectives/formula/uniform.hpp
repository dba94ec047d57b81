#pragma once
// The common cost of a collective whose ranks and links are all alike, which closed forms need.

#include "collectives/formula/closed_form.hpp"

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

// The two levels of a cluster as numbers (CLU 2): N nodes of G ranks and R network cards. Local
// index l in node k is rank k G + l, and uses card l mod R. R is at most G, because more cards
// would be idle. Without `two_level` every rank is a separate node.

struct NodeShape {
  std::uint32_t nodes{};
  std::uint32_t gpus{};    // ranks of the largest node
  std::uint32_t cards{};   // per node, at most `gpus`
  std::uint32_t sharing{}; // c: local ranks on the busiest card
  bool equal_nodes{};      // every node has `gpus` ranks
  LinkCost intra;          // cost of a rank's link inside the node
  LinkCost inter;          // cost of one card
};
[[nodiscard]] NodeShape node_shape(const Collective& collective);
// Whether messages of a level in use arrive after their ports are free; the forms of CLU 3 do not
// hold then.
[[nodiscard]] bool has_delays(const NodeShape& shape);

// The time startup_s + per_byte_s n of a message of n bytes, in seconds.
struct Line {
  double startup_s{};
  double per_byte_s{};
  [[nodiscard]] double at(double bytes) const { return startup_s + per_byte_s * bytes; }
  friend Line operator+(const Line& a, const Line& b) {
    return {a.startup_s + b.startup_s, a.per_byte_s + b.per_byte_s};
  }
  friend Line operator*(double factor, const Line& line) {
    return {factor * line.startup_s, factor * line.per_byte_s};
  }
};
// Returns the line that is not below the other for any bytes >= 0; empty if the lines cross there.
[[nodiscard]] std::optional<Line> upper_line(const Line& a, const Line& b);

} // namespace stepsim::collectives
