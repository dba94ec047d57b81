#pragma once
// What one training step says about the network (IO 4.5): layers in forward order, gradients in
// the order in which they became ready, all-reduced buckets, and the times of the step (IO 4.6).
//   layer          = top-level forward operator that a backward node matches
//   gradient node  = AccumulateGrad; belongs to the layer of the backward node before it
//   sum of layer forward (backward) times = device time of class forward (backward)
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "import/kineto/kineto_calls.hpp"

namespace stepsim::io {

// Device time of one layer in one step.
struct LayerSample {
  std::string operation; // "aten::conv2d"
  std::string module;    // the innermost module or range that contains it; empty = none recorded
  std::int64_t gradients{};
  Nanoseconds forward{};
  Nanoseconds backward{};
  Nanoseconds begin{};                  // of its operator on the host
  std::vector<KinetoTensor> parameters; // inputs that are parameters, in order of registration
};

// One parameter's gradient: the positions of its layer in `layers` and of the bucket in `buckets`
// that was launched next; -1 = none was.
struct GradientSample {
  std::int32_t layer{};
  std::int32_t bucket = -1;
  std::optional<KinetoTensor> shape; // recorded input of the node
  Nanoseconds begin{};               // of its node on the host
};

// One call. `gradients`: those of which it is the next bucket. Times of the device: the sum of its
// kernels, and when the first began and the last ended; empty without a kernel.
struct CollectiveSample {
  CollectiveCall call;
  std::int64_t gradients{};
  [[nodiscard]] std::optional<Nanoseconds> time() const {
    return call.kernels > 0 ? std::optional(call.kernel_time) : std::nullopt;
  }
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
  std::int64_t undefined{};                  // gradient nodes that got no gradient
  std::vector<CollectiveSample> buckets;     // all-reduces launched inside gradient nodes
  std::vector<CollectiveSample> replicas;    // all-reduces of shards (kineto_sharding.hpp)
  std::vector<CollectiveSample> collectives; // all others
  std::int64_t forward_operators{};          // of the forward thread, at any depth
  std::int64_t backward_nodes{};
  std::int64_t backward_matched{};
  Nanoseconds backward_begin{};  // of the first backward node on the host
  std::int64_t graph_launches{}; // of CUDA graphs
  Nanoseconds graph_time{};      // device time inside CUDA graphs
  Nanoseconds recomputed{};      // device time of forward operators inside backward nodes
  bool recomputes = false;       // most kinds of forward layers run again in the backward pass
  std::int64_t repeats = 1;      // equal micro-steps that were joined to one
};

// One sample per step. Without backward nodes the layers are all top-level operators of the
// forward thread with device work, without gradients (IO 4.5, rule 8).
// A node without an input did not get a gradient: it has no value, or, where no shapes were
// recorded, autograd ran it on the forward thread while others ran elsewhere (INP 1.3, rule 5).
[[nodiscard]] std::vector<StepSample> sample_steps(const KinetoRecording& recording,
                                                   std::span<const KinetoStep> steps,
                                                   const Attribution& attribution);

} // namespace stepsim::io
