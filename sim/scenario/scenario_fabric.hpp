#pragma once
// Where a scenario runs: the topology with its routes, the place of every rank and server, and the
// packet block (PKT 3, 6, 7).
#include "scenario/parse_context.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// Call after all objects of the file have been read. Fills in the topology, places and packet
// block, and refuses what a simulated network cannot have; for alpha_beta it only takes a missing
// latency or bandwidth from the topology.
void resolve_fabric(const io::Json& tree, const ParseContext& context, Scenario& scenario);
// Adds the keys that say this to the tree of the resolved scenario: always the model; the topology
// where it is given; the placement on a topology; count_headers for flows; the packet block for
// packets, and for flows with a transport.
void add_fabric_keys(const Cluster& cluster, io::Json& cluster_tree, io::Json& network_tree);

} // namespace stepsim::study
