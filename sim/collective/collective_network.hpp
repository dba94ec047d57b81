#pragma once
// Links of a collective: one cost for all pairs of ranks, a list of links, two levels, a topology.
#include "collective/collective_file.hpp"
#include "scenario/parse_context.hpp"
#include "json/reader.hpp"

namespace stepsim::study {

// Reads network, links, topology, the keys of nodes (gpus_per_node, nics_per_node,
// nvlink_domain_nodes, intra_network) and of switches (nvls_Bps, nvls_startup_s, switch_latency_s)
// into `file`, whose ranks and options are known. Problems go to the context; throws InputError for
// the files that the keys name.
void parse_collective_network(io::Fields& fields, const ParseContext& context,
                              CollectiveFile& file);

} // namespace stepsim::study
