#pragma once
// /cluster/intra_network of a scenario: the link inside a node from its keys, from a profile, or
// from the node type.
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// The link class of a profile that joins GPUs of one node: the first of nvlink, pcie and host that
// has a rate; null without one.
[[nodiscard]] const net::LinkClass* class_in_node(const net::NetworkProfile& profile);
// The block latency is the latency.
[[nodiscard]] coll::LinkCost cost_of(const net::LinkClass& link);

// Reads the object; the numbers of nodes and GPUs of `cluster` and its node type are known. Without
// the object the link is that of the node type for several GPUs per node, else none.
void parse_intra(io::Fields& fields, const ParseContext& context, Cluster& cluster);

// The problem that `place`, /cluster, lacks the network inside its nodes.
void add_missing_intra(const io::Json& place, const ParseContext& context, const Cluster& cluster);

} // namespace stepsim::study
