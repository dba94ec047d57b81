#pragma once
// Local SGD and DiLoCo in a scenario (TRN 4.8, 4.9, 8.1): reading, writing and checking their keys,
// and the two networks of a round as separate scenarios.
#include "document/json.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Whether the algorithm is local_sgd, diloco or easgd.
[[nodiscard]] bool trains_in_rounds(const Training& training);
// Whether the steps of a round are synchronous training inside islands.
[[nodiscard]] bool has_islands(const Training& training);
// Whether the outer exchange has one part per rank of an island, parameters / ranks of the island
// each, which the ranks with the same place in all islands exchange over the network of the
// cluster. With islands and a link of outer_network it is one exchange of all parameters between
// the islands instead.
[[nodiscard]] bool has_replicas(const Training& training);
// Whether gradients are exchanged in the buckets of a schedule.
[[nodiscard]] bool has_buckets(const Training& training);

// Reads the keys. For other algorithms the values are checked, but not used.
void parse_local(io::Fields& fields, const ParseContext& context, Scenario& scenario);
// Writes the keys of a resolved scenario.
void add_local(const Scenario& scenario, io::Json& tree);
// Checks the requirements on the rest of the scenario, which must be known.
void check_local(const io::Json& tree, io::Problems& problems, const Scenario& scenario);

// Synchronous training of one island: a cluster of one node.
[[nodiscard]] Scenario island_of(const Scenario& scenario);
// The scenario whose cluster runs the outer exchanges: `scenario` itself if it has no
// outer_network, or an exchange_s. Otherwise a copy, in which a ring replaces an algorithm that its
// cluster cannot run. If outer_network has a link, the cluster is one node of one GPU per
// participant on that link; participants are the islands, else the `ranks` of outer_network, else
// all ranks. If outer_network has only `ranks`, the cluster is so many nodes of one GPU on the
// network of `scenario`.
[[nodiscard]] Scenario outer_cluster_of(const Scenario& scenario);

} // namespace stepsim::study
