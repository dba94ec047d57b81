#pragma once
// Links of a collective: one cost for all pairs of ranks, a list of links, two levels, a topology.
#include "collective/collective_file.hpp"
#include "scenario/parse_context.hpp"
#include "json/reader.hpp"

namespace stepsim::study {

// Reads network, links, topology, gpus_per_node, nics_per_node and intra_network of `fields` into
// `file`, whose ranks and options are known. Throws InputError for the files that the keys name.
void parse_collective_network(io::Fields& fields, const ParseContext& context,
                              CollectiveFile& file);

} // namespace stepsim::study
