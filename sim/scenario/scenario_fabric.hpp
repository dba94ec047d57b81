#pragma once
// Places a scenario on a network: the topology with its routes, the hosts of all ranks and servers,
// and the packet block (PKT 3, 6, 7).
#include "document/json.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Sets topology, places and packet block, and reports settings that a simulated network does not
// support; for alpha_beta it only takes a missing latency or bandwidth from the topology. Call it
// when all objects of the file have been read.
void resolve_fabric(const io::Json& tree, const ParseContext& context, Scenario& scenario);
// Adds the keys of the network to the tree of the resolved scenario: the model; the topology if it
// is given; the placement on a topology; count_headers for flows; the packet block for packets, and
// for flows with a transport.
void add_fabric_keys(const Cluster& cluster, io::Json& cluster_tree, io::Json& network_tree);

} // namespace stepsim::study
