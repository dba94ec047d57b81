#pragma once
// How many GPUs and network interfaces the nodes of a scenario have: gpus_per_node, or
// ranks_per_node where nodes differ (CLU 3.6), and nics_per_node. A node type fills what is left
// open.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads the three keys; `nodes` and the node type are known. A list that does not fit the nodes is
// a problem.
void read_counts(io::Fields& fields, const ParseContext& context, Cluster& cluster);

// Ranks of every domain of `nodes` nodes in order; empty where they are equal.
[[nodiscard]] std::vector<std::uint32_t> domain_ranks(std::span<const std::int64_t> ranks_per_node,
                                                      std::int64_t nodes);

// Of places for `per_node` ranks on every node, the first ranks_per_node[k] of node k.
[[nodiscard]] std::vector<net::NodeId> first_places(std::span<const net::NodeId> places,
                                                    std::size_t per_node,
                                                    std::span<const std::uint32_t> ranks_per_node);

// Its ranks follow those of the nodes before it.
[[nodiscard]] std::uint32_t first_rank(const Cluster& cluster, std::int64_t node);

// A problem at `place` where nodes differ and `what` needs equal ones.
void require_equal_nodes(const Cluster& cluster, std::string_view what, const io::Json& place,
                         io::Problems& problems);

} // namespace stepsim::study
