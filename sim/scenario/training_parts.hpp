#pragma once
// Parts of /training as plain values with all defaults filled in: codecs of values, sharding, and
// rounds of several steps.
//
// How parameters, gradients and optimizer state are sharded over ranks (TRN 4.4, 4.5), as plain
// values with all defaults filled in.

#include "base/words.hpp"
#include "layers/layer_units.hpp"
#include "links/profile/profile.hpp"
#include "programs/builders/fsdp_program.hpp"
#include "programs/builders/local_sgd_program.hpp"

namespace stepsim::study {

// A codec for values other than gradients of a step or sparse entries: outer gradients
// (outer_compression, TRN 8.1) and gathered parameters (parameter_compression). It reduces the
// bytes on the wire; encoding and decoding take time on the compute stream, and in sums wherever
// values are added on their way (PIP 6).

enum class CodecMethod { none, truncate16, quantize8, int8, fp4, custom_codec };
inline constexpr auto kCodecMethods = base::words<CodecMethod>();

struct ValueCodec {
  CodecMethod method = CodecMethod::none;
  double ratio = 1;                      // bytes of values / bytes on the wire, >= 1
  double encode_Bps = 0, decode_Bps = 0; // uncompressed bytes/s; 0 = no time
  [[nodiscard]] double encode_s(double bytes) const {
    return encode_Bps > 0 ? bytes / encode_Bps : 0;
  }
  [[nodiscard]] double decode_s(double bytes) const {
    return decode_Bps > 0 ? bytes / decode_Bps : 0;
  }
  [[nodiscard]] double hop_s(double bytes) const { return encode_s(bytes) + decode_s(bytes); }
};

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
  [[nodiscard]] bool any() const { return strategy != ShardingStrategy::none; }
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

// Settings of training that synchronises every H steps (TRN 4.8, 4.9), local SGD, DiLoCo and
// streaming DiLoCo, as plain values with all defaults filled in.

// What one step of a round is in the program: one operation of a rank (step), or a step of
// synchronous training inside an island, which is a node (sync_sgd).
enum class InnerTraining { step, sync_sgd };
inline constexpr auto kInnerTrainings = base::words<InnerTraining>();

// The layers of fragment p of P: every P-th layer from p on (strided), or consecutive layers
// (sequential). Layers, in forward order, and fragments are numbered from 0; this fragment p is
// fragment p + 1 of local_sgd_program.hpp.
enum class FragmentPattern { strided, sequential };
inline constexpr auto kFragmentPatterns = base::words<FragmentPattern>();

// The links of outer exchanges; empty values are those of the cluster.
struct OuterNetwork {
  std::optional<double> latency_s, bandwidth_Bps;
  std::optional<links::Carrier> transport; // of bandwidth_Bps
  std::optional<std::int64_t> ranks;       // number of ranks of an outer exchange
  [[nodiscard]] bool has_link() const { return latency_s || bandwidth_Bps; }
};

struct LocalTraining {
  std::int64_t local_steps = 1;   // H, number of steps per round
  std::int64_t fragments = 1;     // P, at most H and at most the number of layers
  std::int64_t overlap_steps = 0; // tau < H, steps from sending a fragment to merging it
  FragmentPattern fragment_pattern{};
  programs::OuterGate outer_gate{};
  InnerTraining inner{};
  Seconds outer_update;         // update time of all parameters
  double outer_value_bytes = 4; // bytes of a parameter or outer gradient, before the codec
  ValueCodec outer_compression;
  std::optional<OuterNetwork> outer_network;
};

} // namespace stepsim::study
