#pragma once
// The stages of methods that exchange lists of entries (SPA 3, 4, 11). Every rank sends k' entries,
// each an index and a value (CompressedExchange::entries).
#include "coll/compress/exchange_builder.hpp"

namespace stepsim::coll {

// Returns the number of ranks that split a gradient before each selects from its shard: the ranks
// of a node for hierarchical_topk, else 1. Throws SimulationError if ranks or links do not suit
// hierarchical_topk.
[[nodiscard]] std::uint32_t selecting_shards(const Compression& compression,
                                             const Collective& base);

// topk, dgc, gaussian_k, gtopk_exact: adds an all-gather of P lists, or two if values and indices
// are split; gaussian_k gathers the list sizes first. Throws SimulationError if recursive_doubling
// is asked for and P is not a power of two.
void add_topk(const ExchangeBuilder& build);
// gtopk_tree: adds a reduce of one list, neighbours first, and a broadcast of the merged list.
void add_tree(const ExchangeBuilder& build);
// gtopk_butterfly: adds floor(log2 P) exchanges of one list, which is merged and cut to k entries
// after each. If P is not a power of two, one more round comes before them and one after.
void add_butterfly(const ExchangeBuilder& build);
// sparcml_rd: adds recursive doubling, whose messages grow with the lists summed, at most to the
// dense size.
void add_sparcml(const ExchangeBuilder& build);
// hierarchical_topk: adds a dense reduce-scatter in nodes, an all-gather of the shards' lists
// between nodes, and an all-gather of these lists in nodes.
void add_hierarchical(const ExchangeBuilder& build);

} // namespace stepsim::coll
