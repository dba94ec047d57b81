#pragma once
// Local SGD and DiLoCo in a scenario (TRN 4.8, 4.9, 8.1): their keys, read and written back, what
// they ask of the rest of the scenario, and the two networks of a round as scenarios of their own.
#include "scenario/parse_context.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// The algorithm is local_sgd or diloco.
[[nodiscard]] bool trains_in_rounds(const Training& training);
// Rounds whose steps are synchronous inside an island.
[[nodiscard]] bool has_islands(const Training& training);
// Gradients are exchanged in the buckets of a schedule.
[[nodiscard]] bool has_buckets(const Training& training);

// With other algorithms the values are checked and nothing follows from them.
void parse_local(io::Fields& fields, const ParseContext& context, Scenario& scenario);
// The same keys of a resolved scenario.
void add_local(const Training& training, io::Json& tree);
// What the rest of the scenario must be; after everything else is known.
void check_local(const io::Json& tree, io::Problems& problems, const Scenario& scenario);

// Synchronous training of one island: a cluster of one node.
[[nodiscard]] Scenario island_of(const Scenario& scenario);
// The cluster of outer exchanges: the scenario itself, or ranks over the links of outer_network.
[[nodiscard]] Scenario outer_cluster_of(const Scenario& scenario);

} // namespace stepsim::study
