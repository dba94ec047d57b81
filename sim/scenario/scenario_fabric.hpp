#pragma once
// Where a scenario runs: the topology with its routes, the place of every rank and server, and the
// packet block (PKT 3, 6, 7).
#include "scenario/parse_context.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// After everything else is known: the topology with its routes, the place of every rank and server,
// the packet block, and what does not go together with a simulated network.
void resolve_fabric(const io::Json& tree, const ParseContext& context, Scenario& scenario);
// Keys of the cluster and its network that say so, resolved; nothing for alpha_beta.
void add_fabric_keys(const Cluster& cluster, io::Json& cluster_tree, io::Json& network_tree);

} // namespace stepsim::study
