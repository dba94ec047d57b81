#pragma once
// The stages of methods that exchange lists of entries (SPA 3, 4, 11). Every rank sends k' entries,
// an index and a value each (CompressedExchange::entries).
#include "coll/compress/exchange_builder.hpp"

namespace stepsim::coll {

// Ranks that one rank's gradient is split over before it selects: those of a node for
// hierarchical_topk, else 1. Throws SimulationError where they do not suit the method.
[[nodiscard]] std::uint32_t selecting_shards(const Compression& compression,
                                             const Collective& base);

// topk, dgc, gaussian_k, gtopk_exact: all-gather of P lists.
void add_topk(const ExchangeBuilder& build);
// gtopk_tree: reduce of one list, neighbours first, then broadcast of the merged one.
void add_tree(const ExchangeBuilder& build);
// gtopk_butterfly: floor(log2 P) exchanges of one list, merged and cut to k after each; for other P
// than 2^K one more round before and one after.
void add_butterfly(const ExchangeBuilder& build);
// sparcml_rd: recursive doubling whose messages grow with the lists summed, at most to dense.
void add_sparcml(const ExchangeBuilder& build);
// hierarchical_topk: dense reduce-scatter in nodes, lists of shards between nodes, all-gather back.
void add_hierarchical(const ExchangeBuilder& build);

} // namespace stepsim::coll
