#pragma once
// Micro-batches and sharding of a scenario (TRN 4.3 to 4.5, 8.1): reading, writing and checking
// their keys.

#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads micro_batches, accumulation_exchange and sharding of /training. For algorithms other than
// sync_sgd the values are checked, but not used. The workload and the training algorithm of
// `scenario` must have been read before.
void parse_sharding(io::Fields& fields, const ParseContext& context, Scenario& scenario);
// Writes the keys of a resolved scenario.
void add_sharding(const Scenario& scenario, io::Json& tree);

// Checks the requirements on the rest of the scenario, which must be known.
void check_sharding(const io::Json& tree, io::Problems& problems, const Scenario& scenario);

// Whether there are several micro-batches or any sharding: one iteration is then a separate
// program.
[[nodiscard]] bool accumulates_or_shards(const Scenario& scenario);
// Bytes of the optimizer's state for a parameter: as given, or of the optimizer.
[[nodiscard]] double optimizer_bytes(const Scenario& scenario);
// Whether gradients are freed between steps unless gradient_lifetime says otherwise: nothing sums,
// views, shards or delays them.
[[nodiscard]] bool may_free_gradients(const Scenario& scenario);
// The number of ranks that share one copy of the parameters, gradients or optimizer: with
// hybrid_shard as given, else those of a node, or of the nodes of an NVLink domain
// (joined_nodes()); with other strategies all.
[[nodiscard]] std::int64_t shard_ranks(const Scenario& scenario);
// [rank]: the tensors that it owns where tensors have owners, as places among the gradients of the
// workload, largest first: each goes to the rank that has least so far, the first one of several
// (torch.distributed.optim.ZeroRedundancyOptimizer, _partition_parameters). Tensors without bytes
// have no owner.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> owned_tensors(const Scenario& scenario);
// The parameters of the model over those that one rank updates: shard_ranks(), or less where the
// tensors of one owner are more than its share.
[[nodiscard]] double shard_count(const Scenario& scenario);
// Whether so many neighbouring ranks may share a copy with hybrid_shard: there are several groups
// of them, each of whole nodes or of an equal part of one. Nodes must be equal.
[[nodiscard]] bool divides_into_groups(const Cluster& cluster, std::int64_t shard_ranks);

} // namespace stepsim::study
