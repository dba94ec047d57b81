#pragma once
// What one training step says about the network (IO 4.5): layers in forward order, gradients in
// the order in which they became ready, all-reduced buckets, and the times of the step (IO 4.6).
//   layer          = top-level forward operator that a backward node matches
//   gradient node  = AccumulateGrad; belongs to the layer of the backward node before it
//   sum of layer forward (backward) times = device time of class forward (backward)
#include "base/collected.hpp"
#include "import/kineto/kineto_attribution.hpp"
#include <numeric>

namespace stepsim::io {

using SharedTensor = base::SharedValue<KinetoTensor>;
using SharedInputs = base::SharedValue<KinetoInputs>;

// Device time of one layer in one step.
struct LayerSample {
  SharedText operation;     // "aten::conv2d"
  SharedText module;        // the innermost module or range that contains it; empty = none recorded
  std::int64_t gradients{}; // number of gradients
  Nanoseconds forward{};    // device time of the forward pass
  Nanoseconds backward{};   // device time of the backward pass
  Nanoseconds begin{};      // start of its operator on the host
  SharedInputs parameters;  // inputs that are parameters, in order of registration
};

// One parameter's gradient. `layer` is a position in StepSample::layers, `bucket` the position in
// StepSample::buckets of the bucket that was launched next; -1 = none was.
struct GradientSample {
  std::int32_t layer{};
  std::int32_t bucket = -1;
  std::optional<SharedTensor> shape{}; // recorded input of the node
  Nanoseconds begin{};                 // start of the node on the host
};

struct CollectiveSample {
  CollectiveCall call;
  std::int64_t gradients{}; // number of gradients of which the call is the next bucket
  // Sum of the durations of the call's kernels; empty if it has none.
  [[nodiscard]] std::optional<Nanoseconds> time() const {
    return call.kernels > 0 ? std::optional(call.kernel_time) : std::nullopt;
  }
};

// wall is the host time from begin to end of the step. busy is the time in which the device runs
// anything, compute_busy that in which it runs anything but communication; streams that overlap
// count once. gradient_nodes is the sum of the device work that gradient nodes launched.
// Why the device is idle (INP 1.9): span is from the start of the first item of the step to the end
// of the last one, and a gap is a time within it in which no stream runs an item. launch_idle is
// the sum of the gaps that a late host caused: the launch of the item after the gap had not begun 2
// us before the gap, or had not returned when it began. In all other gaps the device waited for a
// stream, a collective or an event.
struct StepTimes {
  Nanoseconds wall{}, busy{}, compute_busy{}, gradient_nodes{}, span{}, launch_idle{};
  std::array<Nanoseconds, kWorkClasses> work{};                  // sums of durations by WorkClass
  [[nodiscard]] Nanoseconds idle() const { return span - busy; } // sum of all gaps
  [[nodiscard]] Nanoseconds sum(WorkClass c) const { return work[static_cast<std::size_t>(c)]; }
  [[nodiscard]] Nanoseconds all() const { return base::sum_of<Nanoseconds>(work); }
  // All classes but communication; streams that overlap count twice.
  [[nodiscard]] Nanoseconds compute() const { return all() - sum(WorkClass::communication); }
};

// All that later stages see of a step.
struct StepSample {
  StepTimes times;
  std::vector<LayerSample> layers;
  std::vector<GradientSample> gradients;
  std::int64_t undefined{}; // number of gradient nodes that got no gradient
  // All-reduces that gradient nodes, or backward nodes of compiled graphs, launched.
  std::vector<CollectiveSample> buckets;
  bool logged_buckets = false;               // the buckets are from DDP's log and have no times
  std::vector<CollectiveSample> replicas;    // all-reduces of shards (kineto_rank.hpp)
  std::vector<CollectiveSample> collectives; // all other calls
  std::int64_t forward_operators{};          // number on the forward thread, at any depth
  std::int64_t backward_nodes{};             // number, not counting gradient nodes
  std::int64_t backward_matched{};           // number that match a forward operator
  // Start of the first backward node on the host; without one the end of the step.
  Nanoseconds backward_begin{};
  std::int64_t graph_launches{}; // number of launches of CUDA graphs
  Nanoseconds graph_time{};      // device time inside CUDA graphs
  // Device time of forward operators inside backward nodes; 0 unless `recomputes`.
  Nanoseconds recomputed{};
  bool recomputes = false;   // most kinds of forward layers run again in the backward pass
  std::int64_t repeats = 1;  // equal micro-steps that were joined to one
  bool reduces_each = false; // each of them exchanged its gradients
  // Start of the last gradient node of the first micro-step on the host; no end if there is one.
  Nanoseconds first_end = std::numeric_limits<Nanoseconds>::max();
};

// Returns one sample per step. `calls` is what collective_calls() returned. Without backward nodes
// the layers are all top-level operators of the forward thread with device work, without gradients
// (IO 4.5, rule 8). A gradient node got no gradient if its recorded input has no type or, where no
// shapes were recorded, if autograd ran it on the forward thread but others on other threads
// (INP 1.3, rule 5).
[[nodiscard]] std::vector<StepSample> sample_steps(const KinetoRecording& recording,
                                                   std::span<const KinetoStep> steps,
                                                   const Attribution& attribution,
                                                   std::span<const CollectiveCall> calls);

// Gradient accumulation (INP 1.3, rule 8): a step between two weight updates may have k
// micro-steps, each a forward and a backward pass, and the last one or each exchanges gradients.
// If the step consists of k >= 2 equal repeats, reduces the sample to one micro-step: the medians
// of the layer times, the gradients and buckets of the last repeat, and `repeats` = k. Equal
// repeats have the same layers and gradients, each backward pass ends before the next forward pass,
// and all buckets are in the last one, or the same ones in each. Counts of nodes are divided by k;
// `times` stay those of the whole step. The largest possible k is used.
void join_repeats(StepSample& sample);

// Names layers by the code around an operator (INP 1.11): the innermost module that contains it,
// "nn.Module: Conv2d_3" (with_stack or with_modules), else the innermost annotation "## name ##"
// that does not name a phase of the step.

class LayerNames {
public:
  explicit LayerNames(const KinetoRecording& recording);

  // The name at a moment on a thread; empty if nothing was recorded. O(log ranges).
  [[nodiscard]] std::string at(std::int32_t thread, Nanoseconds moment) const;

private:
  struct Range {
    std::int32_t thread{};
    Nanoseconds begin{}, end{};
    std::int32_t name = -1;  // name in the recording
    std::int32_t outer = -1; // range that contains this one
  };
  [[nodiscard]] std::int32_t innermost(const std::vector<Range>& ranges, std::int32_t thread,
                                       Nanoseconds moment) const;
  static void nest(std::vector<Range>& ranges);

  const KinetoRecording& recording_;
  std::vector<Range> modules_, annotations_; // sorted by (thread, begin)
};

// A module that is one layer gives the layer its name. If a module has several layers, the operator
// is added, and a running number to equal names. Without modules the name is the operator and a
// running number: "conv2d_3".
[[nodiscard]] std::vector<std::string> layer_names(const std::vector<LayerSample>& samples);

// What an attributed recording has of one step. Top-level operators are indices into `tops` of the
// attribution. Recording, attribution and calls must outlive it.
struct StepView {
  const KinetoRecording& recording;
  const Attribution& attribution;
  std::int32_t thread{};                   // forward thread
  std::span<const DeviceItem> items{};     // device work launched in the step, by launch
  std::span<const CollectiveCall> calls{}; // that start in the step, by start
  std::vector<std::int32_t> nodes{};       // backward and gradient nodes that start in it, by start
  std::span<const Operator> operators{};   // of the forward thread, at any depth, by start
  [[nodiscard]] NodeKind kind(std::int32_t top) const { return attribution.top(top).kind; }
  // Whether the operator is outside of backward nodes.
  [[nodiscard]] bool is_forward(const Operator& op) const { return kind(op.top) == NodeKind::none; }
  // All operators inside a top-level operator, which is the first of them.
  [[nodiscard]] std::span<const Operator> inside(std::int32_t top) const;
};

// [step] `calls` is what collective_calls() returned for the same recording. O(events log events).
[[nodiscard]] std::vector<StepView> step_views(const KinetoRecording& recording,
                                               std::span<const KinetoStep> steps,
                                               const Attribution& attribution,
                                               std::span<const CollectiveCall> calls);

// Finds the forward operator of each backward node of a step (IO 4.5, rule 2; INP 1.3, rule 3).
//   numbers   the node has the sequence number of its operator
//   names     used if fewer than half of the nodes have the number of an operator: nodes run in
//             the reverse order of their operators, so XBackward belongs to the last operator X
//             before the operator of the previous node; a node with a number has no other
//             operator than that with its number where some nodes have one
struct NodeMatch {
  std::int32_t node{};     // the backward node, a top-level operator
  std::int32_t layer = -1; // top-level operator of the forward thread; -1: no match
};

// One match per backward node of the step in order of start, without gradient nodes.
[[nodiscard]] std::vector<NodeMatch> match_nodes(const StepView& step);

} // namespace stepsim::io
