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
// Whether the ranks of one copy lie on several nodes, so that they exchange over the network, as do
// the replicas of hybrid_shard.
[[nodiscard]] bool shards_span_nodes(const Scenario& scenario);
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

// Reads and writes /training/overlap of a scenario and its short form compute_slowdown (TRN 3).

// Reads both keys into `scenario.training.overlap`. Given numbers have priority, then those of the
// key `file`, then, for compute alone, that of the row of overlap_rows() which the key `table`
// names.
void parse_overlap(io::Fields& training, const ParseContext& context, Scenario& scenario);
// Reports settings that do not work with a slowdown, so that a result never ignores it silently.
void check_overlap(const io::Json& tree, const ParseContext& context, const Scenario& scenario);
// Adds the keys to the resolved training.
void add_overlap(const Scenario& scenario, io::Json& tree);

// The slowdown of compute, if it is the same for all kinds of compute and exchanges are not slowed;
// else empty.
[[nodiscard]] std::optional<double> one_slowdown(const programs::Interference& overlap);

// Shipped slowdowns of compute next to an exchange (TRN 3.3), by the device and the library that
// moves the data, with the source of each value.

struct OverlapRow {
  std::string_view name;   // DEVICE/LIBRARY
  double compute{};        // factor on compute times during an exchange, >= 1
  std::string_view label;  // "derived" or "measured"
  std::string_view source; // what it was derived from
};

[[nodiscard]] std::span<const OverlapRow> overlap_rows();
[[nodiscard]] std::vector<std::string_view> overlap_names();

// How a trace was recorded, as keys of a scenario: the micro-batches of an update and the sharding
// of parameters (INP 1.3, 1.6). `stepsim init` writes the keys; a scenario that leaves them open is
// warned about.
//
//     trace       "accumulation": 4, "units": [{"layers": [0, 4], ..}, ..], "sharding": {..}
//     /training   micro_batches 4, "sharding": {"strategy": "full_shard", "wrapping": {..}, ..}

struct RecordedTraining {
  io::Json keys{io::Object{}};    // keys of /training; empty if the trace recorded neither
  std::vector<std::string> taken; // "micro_batches 4", "sharding full_shard in 3 units"
};

// The strategy is shard_grad_op if parameters stayed gathered until backward, else full_shard; or
// hybrid_shard if the shards of the trace were on a part of its ranks and the ranks of `cluster`
// are several such groups. Units become cuts of `wrapping`, where the layers of all of them
// are known; a unit with layers in several places, like the root unit of FSDP, becomes several.
[[nodiscard]] RecordedTraining recorded_training(const layers::Workload& workload,
                                                 const Cluster& cluster);

// Adds a warning for each job whose trace recorded micro-batches or sharding that the scenario,
// parsed from `tree`, has no key for.
void warn_of_recorded_training(const io::Json& tree, Scenario& scenario);
// Adds a warning if the layers were timed on another GPU than the node type has.
void warn_of_other_gpu(Scenario& scenario);

} // namespace stepsim::study
