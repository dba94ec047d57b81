#pragma once
// Sharded jobs (FSDP, ZeRO-3; INP 1.6): a unit is gathered before its forward pass, and again
// before its backward pass if it was freed in between; its gradient is reduced and scattered as one
// message. A step is sharded if it calls all-gather, calls reduce-scatter in its backward pass, and
// meets one of three conditions: no all-reduce is above 1 MB; those above are all of shards (HSDP);
// or the recording has annotations of FSDP.
#include <optional>
#include <vector>

#include "import/kineto/kineto_layers.hpp"
#include "layers/trace.hpp"

namespace stepsim::io {

struct ShardedStep {
  layers::MeasuredSharding sharding;
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

} // namespace stepsim::io
