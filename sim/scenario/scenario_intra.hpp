#pragma once
// Reads /cluster/intra_network of a scenario: the link inside a node, from its keys, a profile, or
// the node type.
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// The link class of a profile that joins GPUs of one node: the first of nvlink, pcie and host that
// has a rate; null if there is none.
[[nodiscard]] const links::LinkClass* class_in_node(const links::NetworkProfile& profile);
// The cost of the link, with LinkClass::further_block_s().
[[nodiscard]] collectives::LinkCost cost_of(const links::LinkClass& link);

// Reads the object; nodes, GPUs and node type of `cluster` must be known. Without the object, the
// link is that of the node type if a node has several GPUs, else there is none.
void parse_intra(io::Fields& fields, const ParseContext& context, Cluster& cluster);

// Reports at `place`, /cluster, that the network inside its nodes is missing.
void add_missing_intra(const io::Json& place, const ParseContext& context, const Cluster& cluster);

} // namespace stepsim::study
