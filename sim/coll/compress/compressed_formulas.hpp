#pragma once
// The formulas of SPA 11 that are no collectives: how lists grow when they are summed, and the
// times of methods without a schedule. Internal to coll.
#include <optional>

#include "coll/compress/compressed_exchange.hpp"
#include "coll/formula/uniform.hpp"

namespace stepsim::coll {

// n(c): expected entries of the sum of c ranks' lists of k' entries among m elements.
//   full k'      disjoint min(k' c, m)      random m (1 - (1 - k'/m)^c)
[[nodiscard]] double held_entries(const Compression& compression,
                                  const CompressedExchange& exchange, std::uint32_t ranks);
// min(n(c) E, m V): a list that would be longer than the dense gradient is sent dense.
[[nodiscard]] double held_bytes(const Compression& compression, const CompressedExchange& exchange,
                                std::uint32_t ranks);

// D: the fraction of blocks of `block` elements with an entry, at random positions.
[[nodiscard]] double nonzero_blocks(double density, std::int64_t block);

// The link that formulas see, which know one level only: on nodes with several ranks each rank has
// its share of an interface all the time, so that a node never sends more than its interfaces
// carry. Empty where ranks or links differ.
[[nodiscard]] std::optional<UniformCost> formula_cost(const Collective& base);

// Sets formula_s (and formula_range_s) of a method without a schedule. Throws SimulationError where
// ranks or links differ.
void add_formula(const Compression& compression, const Collective& base,
                 CompressedExchange& exchange);

} // namespace stepsim::coll
