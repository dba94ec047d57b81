#pragma once
// Sharded jobs (FSDP, ZeRO-3; INP 1.6): a unit is gathered before its forward pass, and again
// before its backward pass if it was freed in between; its gradient is reduced and scattered as one
// message. A step is sharded if it gathers and scatters and all-reduces nothing above 1 MB, or if
// FSDP has annotated it.
#include <optional>
#include <vector>

#include "import/kineto/kineto_layers.hpp"
#include "train/workload/trace.hpp"

namespace stepsim::io {

struct ShardedStep {
  train::MeasuredSharding sharding;
  std::vector<train::MeasuredUnit> units; // in forward order
};

// A unit is one reduce-scatter of the step: its elements are those of the input, and gathers whose
// output has as many belong to units of that size, in their order; where the backward pass gathers
// fewer than there are units, the last ones of the forward pass were kept. Layers of a unit are
// those inside its forward annotations, else those between its gather and the next unit's.
[[nodiscard]] std::optional<ShardedStep>
sharded_step(const KinetoRecording& recording, const KinetoStep& step, const StepSample& sample);

// With replicas of the sharded groups (HSDP) the shards of gradients are all-reduced over a second
// group, of another size: such calls of the step become its `replicas`, and no longer count as
// buckets of whole gradients.
void separate_replicas(const ShardedStep& sharded, StepSample& step);

} // namespace stepsim::io
