#pragma once
// How parameters, gradients and optimizer state are sharded over ranks (TRN 4.4, 4.5), as plain
// values with all defaults filled in.

#include "layers/layer_units.hpp"
#include "programs/builders/fsdp_program.hpp"
#include "scenario/value_codec.hpp"

namespace stepsim::study {

// zero1 shards the optimizer state, zero2 also the gradients, full_shard also the parameters
// (ZeRO-3, FSDP). shard_grad_op keeps parameters gathered until backward. hybrid_shard is
// full_shard among shard_ranks ranks, by default those of a node, with replicas of that (HSDP).
enum class ShardingStrategy { none, zero1, zero2, full_shard, shard_grad_op, hybrid_shard };
inline constexpr auto kShardingStrategies = base::words<ShardingStrategy>();

// A framework whose defaults apply to the keys that are not given.
enum class ShardingPreset { fsdp1, fsdp2, torchtitan };
inline constexpr auto kShardingPresets = base::words<ShardingPreset>();

inline constexpr auto kBackwardPrefetches = base::words<programs::BackwardPrefetch>();
inline constexpr auto kParameterGathers = base::words<programs::NextForward>();

// How ranks get the parameters that zero1 has updated: by all-gathers of buckets whose gradients
// were reduce-scattered, or, as PyTorch's ZeroRedundancyOptimizer, by broadcasts from the owners of
// whole tensors after all-reduces: of each tensor, or of all tensors of a rank at once.
enum class GatherBy { all_gather, broadcast_tensors, broadcast_view };
inline constexpr auto kGatherBys = base::words<GatherBy>();

// Which gradients of micro-batches are exchanged: those of the last one, which hold the sum, or
// those of each micro-batch.
enum class AccumulationExchange { last, each };
inline constexpr auto kAccumulationExchanges = base::words<AccumulationExchange>();

struct Sharding {
  ShardingStrategy strategy = ShardingStrategy::none;
  ShardingPreset preset = ShardingPreset::fsdp2;
  layers::Wrapping wrapping{};
  // The most units that are gathered ahead of forward (without the unit of forward_prefetch) and of
  // backward, and the most reduce-scatters in flight while backward goes on; empty = no limit.
  std::optional<std::int64_t> ahead_forward = 2;
  std::optional<std::int64_t> ahead_backward = 1;
  std::optional<std::int64_t> reduces_in_flight = 1;
  programs::BackwardPrefetch backward_prefetch{};
  bool forward_prefetch = false; // one more gather ahead in the forward pass
  bool limit_all_gathers = true; // FSDP1 only; false: ahead_forward has no limit
  bool reshard_after_forward = true;
  bool reshard_after_backward = true;
  bool keep_last = false;
  std::int64_t communicators = 1;
  std::optional<std::int64_t> shard_ranks{}; // hybrid_shard: in one copy; empty = those of a node
  programs::NextForward gather = programs::NextForward::barrier; // zero1, zero2
  GatherBy gather_by = GatherBy::all_gather;                     // zero1
  // Bytes per parameter: as computed with and gathered, as reduced, as stored, and of the optimizer
  // state.
  double parameter_bytes = 2, reduce_bytes = 4, stored_bytes = 4;
  std::optional<double> optimizer_bytes{}; // empty: those of the optimizer
  ValueCodec parameter_compression{};      // codec of gathered parameters
  // The next two limit the planner of units (wrapping policy `optimal`, plan-training): the
  // size of a unit of several layers, and the number of partial divisions that it keeps.
  std::optional<std::int64_t> max_unit_parameters{};
  std::int64_t label_limit = 200'000;
};

// Whether parameters are gathered unit by unit; then the schedule of buckets has no effect.
[[nodiscard]] constexpr bool has_units(ShardingStrategy strategy) {
  return strategy == ShardingStrategy::full_shard || strategy == ShardingStrategy::shard_grad_op ||
         strategy == ShardingStrategy::hybrid_shard;
}
[[nodiscard]] constexpr bool has_units(const Sharding& sharding) {
  return has_units(sharding.strategy);
}

// Whether each tensor has one owner, which broadcasts it.
[[nodiscard]] constexpr bool has_owners(const Sharding& sharding) {
  return sharding.gather_by != GatherBy::all_gather;
}

} // namespace stepsim::study
