#pragma once
// Reduces one profiler file to what the trace needs: a sample per step, and the steps to use
// (IO 4.2, 4.5 rule 5; INP 1.3). Steps are removed in this order:
//   - steps without device work;
//   - the first `skip_steps` steps, but at least one step stays;
//   - the first of the remaining steps, while its device time exceeds the median of the later ones
//     by more than a fifth, but at least two steps stay;
//   - steps that are not in the largest group with the same layers (of equal groups, the first).

#include "import/kineto/kineto_windows.hpp"

namespace stepsim::io {

// Sharded jobs (FSDP, ZeRO-3; INP 1.6): a unit is gathered before its forward pass, and again
// before its backward pass if it was freed in between; its gradient is reduced and scattered as one
// message. A step is sharded if it calls all-gather, calls reduce-scatter in its backward pass, and
// meets one of three conditions: no all-reduce is above 1 MB; those above are all of shards (HSDP);
// or the recording has annotations of FSDP.
struct ShardedStep {
  layers::MeasuredSharding sharding;
  bool reduces_each = false;               // every micro-step of several, not only the last one
  std::vector<layers::MeasuredUnit> units; // in forward order
};

// Empty if the step is not sharded. Every reduce-scatter of the backward pass is a unit, whose
// elements are those of its input. An all-gather belongs to a unit with as many elements as its
// output; units of one size take turns. If the backward pass gathers fewer units than there are,
// the last ones of the forward pass were kept. The layers of a unit are those inside its forward
// annotations, else those between its gather and the next unit's.
[[nodiscard]] std::optional<ShardedStep>
sharded_step(const KinetoRecording& recording, const KinetoStep& step, const StepSample& sample);

// With replicas of the sharded groups (HSDP) the shards of gradients are all-reduced over a second
// group, of another size. Moves such calls to `replicas` of the step, from its buckets and its
// other collectives. Changes nothing if the step has a bucket that is not a shard.
void separate_replicas(const ShardedStep& sharded, StepSample& step);

// One file: all its steps, and which of them are used.
struct KinetoRank {
  std::string file;
  std::optional<std::string> device;
  std::optional<std::int64_t> world_size;
  std::optional<std::int64_t> rank;
  bool record_shapes = false; // whether shapes were recorded, by the file's own word
  std::vector<std::string> step_names;
  std::vector<StepSample> steps;
  std::vector<std::size_t> used; // ascending indices into `steps`, at least one
  // Share of device time launched outside all steps or by an unknown launch.
  double unattributed_fraction{};
  bool forward_only = false;          // the file has no backward nodes
  std::vector<IdleTime> idle;         // [step]
  std::vector<DeviceStep> device_use; // [step]
  std::vector<CollectiveCall> calls;  // all calls of the file, in order of start
  std::optional<ShardedStep> sharded; // from the last used step
  std::vector<std::string> warnings;

  [[nodiscard]] const StepSample& first() const { return steps[used.front()]; }
};

// Changes `recording`: operators that only enclose a part of the program become annotations. Throws
// InputError for no device work (in the file or in any step), no step, no forward operators, or
// backward nodes most of which match no forward operator, and UsageError for a wrong regular
// expression.
[[nodiscard]] KinetoRank reduce_rank(KinetoRecording& recording,
                                     const std::optional<std::string>& step_annotation,
                                     std::int64_t skip_steps);

// Whether both have the same operators with the same numbers of gradients.
[[nodiscard]] bool same_layers(const StepSample& a, const StepSample& b);

// The warnings of a single file as they are. With several files, warnings that differ only in their
// numbers become one: "rank0 and 7 other files (with other numbers): 12 steps ..", which has the
// name and the numbers of the first such file.
[[nodiscard]] std::vector<std::string> common_warnings(std::span<const KinetoRank> ranks);

} // namespace stepsim::io
