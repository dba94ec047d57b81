#pragma once
// The common cost of a collective whose ranks and links are all alike, which closed forms need.
#include <optional>
#include <vector>

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

} // namespace stepsim::collectives
