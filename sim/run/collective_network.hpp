#pragma once
// Reads the links of a collective, which are one of: one cost for all pairs of ranks, a list of
// links, two levels (inside a node and between nodes), a topology.
#include "document/reader.hpp"
#include "run/collective_file.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads network, links, topology, the keys of nodes (gpus_per_node, nics_per_node,
// nvlink_domain_nodes, intra_network) and of switches (nvls_Bps, nvls_startup_s, switch_latency_s)
// into `file`, whose ranks and options must be set already. Problems are added to the context.
// Throws InputError if a file that a key names is invalid.
void parse_collective_network(io::Fields& fields, const ParseContext& context,
                              CollectiveFile& file);

} // namespace stepsim::study
