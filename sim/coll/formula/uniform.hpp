#pragma once
// The common cost of a collective whose ranks and links are all alike: what closed forms need.
#include <optional>

#include "coll/collective.hpp"

namespace stepsim::coll {

struct UniformCost {
  // Of every pair. On two levels that between nodes; for flat algorithms on one node that inside.
  LinkCost link;
  double reduction_s_per_byte{};
  double enter_s{}; // common entry time
};

// Empty where links, reduction rates or entry times differ. Algorithms with phases over nodes
// (`node_phases`) count as uniform on two levels, and so do dedicated parameter servers, which are
// on other machines; all others, sums in switches included, only if a single level is left (one
// node, or one rank per node). Nothing is uniform on a fabric, or, unless nothing is sent, with
// measured steps.
[[nodiscard]] std::optional<UniformCost> uniform_cost(const Collective& collective);

// c of COL 5.9: ranks behind the busiest interface of a node; 1 on one level.
[[nodiscard]] std::uint32_t ranks_per_interface(const Collective& collective);

// Total bytes: the sum of `sizes` for allgatherv with sizes, else `bytes`.
[[nodiscard]] double total_bytes(const Collective& collective);

// Time 0 without any operation: one rank or nothing to send (COL 2.7); a dedicated parameter
// server is another rank, so that one worker still crosses the network.
[[nodiscard]] bool is_empty(const Collective& collective);

} // namespace stepsim::coll
