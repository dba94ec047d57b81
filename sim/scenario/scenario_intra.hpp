#pragma once
// /cluster/intra_network of a scenario: the link inside a node from its keys, from a profile, or
// from the node type.
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// The link class of a profile that joins GPUs of one node, the fastest first; null without one.
[[nodiscard]] const net::LinkClass* class_in_node(const net::NetworkProfile& profile);
[[nodiscard]] coll::LinkCost cost_of(const net::LinkClass& link);

// Reads the object; the numbers of nodes and GPUs of `cluster` and its node type are known.
void parse_intra(io::Fields& fields, const ParseContext& context, Cluster& cluster);

} // namespace stepsim::study
