#pragma once
// Formulas of SPA 11 that are not collectives: how lists grow when they are summed, and the times
// of methods without a schedule. A bucket has m elements, and M bytes if it is dense; every rank
// sends a list of k' = exchange.entries entries of E = index_bytes + value_bytes each. Internal to
// coll.

#include "collectives/compress/compressed_exchange.hpp"
#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {

// Returns n(c), the expected number of entries in the sum of the lists of c ranks. It depends on
// how the positions that the ranks select overlap (support_overlap):
//   full k'      disjoint min(k' c, m)      random m (1 - (1 - k'/m)^c)
[[nodiscard]] double held_entries(const Compression& compression,
                                  const CompressedExchange& exchange, std::uint32_t ranks);
// Returns min(n(c) E, M): a list that would be longer than the dense gradient is sent dense.
[[nodiscard]] double held_bytes(const Compression& compression, const CompressedExchange& exchange,
                                std::uint32_t ranks);

// Returns the fraction of the blocks of `block` elements that hold at least one entry, if a
// fraction `density` of all elements are entries at random positions: 1 - (1 - density)^block.
[[nodiscard]] double nonzero_blocks(double density, std::int64_t block);

// Returns the link cost for the formulas, which support one kind of link only. On nodes with
// several ranks each rank has a fixed share of an interface, so that a node never sends more than
// its interfaces carry. Empty if ranks or links differ.
[[nodiscard]] std::optional<UniformCost> formula_cost(const Collective& base);

// Sets formula_s, scattered and, for topk_dsa, formula_range_s of a method without a schedule.
// Times count from time 0, and so include the entry time if all ranks enter later together. Throws
// SimulationError if ranks or links differ.
void add_formula(const Compression& compression, const Collective& base,
                 CompressedExchange& exchange);

} // namespace stepsim::collectives
