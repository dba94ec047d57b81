#pragma once
// What one training step says about the network (IO 4.5): layers in forward order, gradients in
// the order in which they became ready, all-reduced buckets, and the times of the step (IO 4.6).
//   layer          = top-level forward operator that a backward node matches by sequence number
//   gradient node  = AccumulateGrad; belongs to the layer of the backward node before it
//   sum of layer forward (backward) times = device time of class forward (backward)
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "import/kineto/kineto_attribution.hpp"

namespace stepsim::io {

// Device time of one layer in one step.
struct LayerSample {
  std::string operation; // "aten::conv2d"
  std::int64_t gradients{};
  Nanoseconds forward{};
  Nanoseconds backward{};
};

// One parameter's gradient: the positions of its layer in `layers` and of the bucket that carries
// it in `buckets`; -1 = none.
struct GradientSample {
  std::int32_t layer{};
  std::int32_t bucket = -1;
  std::optional<KinetoGradient> shape; // recorded input shape
};

struct CollectiveSample {
  std::string op;
  std::string dtype; // as recorded
  std::int64_t elements{};
  std::int64_t gradients{};        // of a bucket
  std::optional<Nanoseconds> time; // of its kernel; empty = it has none
};

// wall: from begin to end of the step; busy: the device runs anything; compute_busy: it runs
// anything but communication; gradient_nodes: sum of their device work.
struct StepTimes {
  Nanoseconds wall{}, busy{}, compute_busy{}, gradient_nodes{};
  std::array<Nanoseconds, kWorkClasses> work{}; // sums of durations by WorkClass
  [[nodiscard]] Nanoseconds sum(WorkClass c) const { return work[static_cast<std::size_t>(c)]; }
};

// All that later stages see of a step.
struct StepSample {
  StepTimes times;
  std::vector<LayerSample> layers;
  std::vector<GradientSample> gradients;
  std::vector<CollectiveSample> buckets;     // launched inside gradient nodes
  std::vector<CollectiveSample> collectives; // all others
  std::int64_t backward_nodes{};
  std::int64_t backward_matched{};
};

// One sample per step. Without backward nodes the layers are all top-level operators of the
// forward thread with device work, without gradients (IO 4.5, rule 8).
[[nodiscard]] std::vector<StepSample> sample_steps(const KinetoRecording& recording,
                                                   std::span<const KinetoStep> steps,
                                                   const Attribution& attribution);

} // namespace stepsim::io
