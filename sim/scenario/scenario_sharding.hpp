#pragma once
// Micro-batches and sharding of a scenario (TRN 4.3 to 4.5, 8.1): their keys, read and written
// back, and what they ask of the rest of the scenario.
#include <string>

#include "scenario/parse_context.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// micro_batches, accumulation_exchange and sharding of /training. With algorithms other than
// sync_sgd, for which they have no meaning, their values are checked and nothing follows from them.
void parse_sharding(io::Fields& fields, const ParseContext& context, Scenario& scenario);
// The same keys of a resolved scenario.
void add_sharding(const Training& training, io::Json& tree);

// What the rest of the scenario must be; after everything else is known.
void check_sharding(const io::Json& tree, io::Problems& problems, const Scenario& scenario);

// Several micro-batches, or anything sharded: one iteration is a program of its own.
[[nodiscard]] bool accumulates_or_shards(const Scenario& scenario);
// Ranks that share one copy of the parameters, gradients or optimizer: those of a node with
// hybrid_shard, else all.
[[nodiscard]] std::int64_t shard_ranks(const Scenario& scenario);

} // namespace stepsim::study
