#pragma once
// Attributes every piece of device work to an operator of the host, a training step and a class
// (IO 4.3, 4.4). The chain is  item -> launch with the same correlation -> top-level operator that
// contains the start of the launch on its thread. The step is the one that contains the start of
// the launch, because the host runs ahead of the device.
#include "base/shared_value.hpp"
#include "import/kineto/kineto_events.hpp"
#include <tuple>

namespace stepsim::io {

inline constexpr std::string_view kBackwardPrefix = "autograd::engine::evaluate_function: ";

// A node of autograd's graph runs in the backward pass; a gradient node accumulates the gradient of
// one parameter.
enum class NodeKind : std::uint8_t { none, backward, gradient };

// The class of device work. The first that fits is taken, in the order communication, update,
// backward, framework, zeroing of gradients (other), input, forward, other:
//   - update: launched inside Optimizer.step#
//   - backward: launched by an operator of autograd
//   - framework: copies between gradients and buckets by DDP and c10d
//   - input: copies to the device, launched by the forward thread
//   - forward: all other work of that thread
//   - communication: kernels of a communication library by their names, or launched on any thread
//     by a call that is annotated as one of NCCL
//   - other: zeroing gradients, and work of other threads, outside all steps or with unknown launch
enum class WorkClass : std::uint8_t {
  forward,
  backward,
  update,
  input,
  framework,
  other,
  communication
};
inline constexpr std::size_t kWorkClasses = 7;

// An operator that is not inside another operator of its thread.
struct TopOperator {
  Nanoseconds begin{};
  Nanoseconds end{};
  std::int32_t event{};
  std::int32_t thread{};
  NodeKind kind = NodeKind::none;
};

// An operator at any depth, with the outermost operator that contains it.
struct Operator {
  std::int32_t event{};
  std::int32_t top{}; // index into tops
};

// A launch that began this long before the device became idle was in time.
inline constexpr Nanoseconds kLateLaunch = 2000;

// One kernel, copy or fill, with the call that launched it.
struct DeviceItem {
  Nanoseconds begin{};
  Nanoseconds end{};
  Nanoseconds launched{};   // start of the launch; 0 if it is missing
  Nanoseconds launch_end{}; // when the launch returned; 0 if it is missing
  std::int32_t thread = -1; // thread of the launch; -1 if it is missing
  std::int32_t event{};     // index into the events of the recording
  std::int32_t top = -1;  // index into tops; -1: launched outside all operators, or launch missing
  std::int32_t step = -1; // index into the steps; -1: outside all of them, or launch missing
  WorkClass work = WorkClass::other;
  bool in_graph = false; // launched as part of a CUDA graph
  [[nodiscard]] Nanoseconds duration() const { return end - begin; }
};

struct Attribution {
  std::vector<TopOperator> tops;   // sorted by (thread, begin)
  std::vector<Operator> operators; // all operators, by (thread, begin, longest first)
  std::vector<DeviceItem> items;   // sorted by (step, launched); a total order
  Nanoseconds device_time{};       // sum over all items
  Nanoseconds outside_steps{};     // sum over items with step -1

  [[nodiscard]] const TopOperator& top(std::int32_t index) const {
    return tops[static_cast<std::size_t>(index)];
  }
};

// A time interval on a thread of the host.
struct HostInterval {
  std::int32_t thread{};
  Nanoseconds begin{};
  Nanoseconds end{};
};

// Where `before` ends to hold in a sorted list. Looked for from the place `near` on, a few steps
// and then by halves: what is asked one after the other is mostly found one behind the other.
template <class Iterator, class Before>
[[nodiscard]] Iterator partition_point_near(Iterator first, Iterator last, Iterator near,
                                            const Before& before) {
  constexpr int kSteps = 8;
  if (near != first && !before(*(near - 1))) {
    return std::partition_point(first, near, before);
  }
  for (int i = 0; i < kSteps; ++i, ++near) {
    if (near == last || !before(*near)) {
      return near;
    }
  }
  return std::partition_point(near, last, before);
}

// Finds intervals, which are sorted by (thread, begin) and do not overlap on a thread.
template <class Intervals> class IntervalSearch {
public:
  explicit IntervalSearch(const Intervals& intervals)
      : intervals_(intervals), near_(intervals.begin()) {}

  // The last interval that begins at or before `moment` on `thread` and ends after it; -1 if there
  // is none.
  [[nodiscard]] std::int32_t at(std::int32_t thread, Nanoseconds moment) {
    near_ = partition_point_near(
        intervals_.begin(), intervals_.end(), near_, [&](const auto& interval) {
          return std::tie(interval.thread, interval.begin) <= std::tie(thread, moment);
        });
    if (near_ == intervals_.begin() || (near_ - 1)->thread != thread ||
        moment >= (near_ - 1)->end) {
      return -1;
    }
    return static_cast<std::int32_t>(near_ - intervals_.begin() - 1);
  }

private:
  const Intervals& intervals_;
  typename Intervals::const_iterator near_;
};

// The intervals by (thread, begin); overlapping ones of a thread are merged.
[[nodiscard]] std::vector<HostInterval> joined_intervals(std::vector<HostInterval> intervals);

// Whether `name` is one that autograd gives to backward nodes: "XBackward", "XBackward0".
[[nodiscard]] bool is_backward_name(std::string_view name);

// Turns operators that only enclose a part of the program, such as "## forward ##" of older
// profilers or "Torch-Compiled Region: 0/0", into annotations, because the operators inside them
// are the layers. Returns the operators that remain, by (thread, begin, longest first), without
// their tops.
[[nodiscard]] std::vector<Operator> demote_ranges(KinetoRecording& recording);

// Attributes all device work of the recording. `operators` are those that demote_ranges() returned.
[[nodiscard]] Attribution attribute(const KinetoRecording& recording,
                                    std::span<const KinetoStep> steps,
                                    std::vector<Operator> operators);

// The collectives of a recording, one value per call (IO 4.5, rule 6; INP 1.2). A call is a
// `record_param_comms` operator, which has the operation and the sizes since PyTorch 2.2, with the
// annotation `nccl:NAME` inside, whose input has the size if shapes were recorded; or it is such an
// annotation alone. Its kernels are those launched during the call or, if there are none, those
// with the external id of the operator.

using SharedText = base::SharedValue<std::string>; // thousands of samples have the same few

struct CollectiveCall {
  SharedText op;                  // in stepsim's words: "allreduce", "allgather", ...
  SharedText dtype;               // as recorded, empty = unknown
  std::int64_t elements = -1;     // elements of this rank's input; -1 = unknown
  std::int64_t out_elements = -1; // elements of this rank's output; -1 = unknown
  std::int64_t group_size = -1;   // ranks that take part; -1 = unknown
  SharedText group;               // name of the process group, empty = unknown
  Nanoseconds begin{};            // start of the call on the host
  std::int32_t thread{};          // thread of the host
  std::int32_t top = -1;          // top-level operator that contains the call; -1 = none
  std::int32_t step = -1;         // step that contains the start of the call; -1 = none
  std::int64_t order{};           // order of recording, for calls that start together
  std::int32_t kernels = 0;       // number of the call's kernels
  // Start of the first kernel, end of the last one, sum of their durations; 0 without kernels.
  Nanoseconds kernel_begin{}, kernel_end{}, kernel_time{};
};

// In order of start. Calls without data (waits, barriers, set-up), and those whose operation
// neither the call nor a kernel tells, are left out.
[[nodiscard]] std::vector<CollectiveCall> collective_calls(const KinetoRecording& recording,
                                                           std::span<const KinetoStep> steps,
                                                           const Attribution& attribution);

// Whether the call is the all-reduce of a bucket: launched by a gradient's node, or inside a
// compiled graph, which carries the gradients of the graph.
[[nodiscard]] bool carries_bucket(const KinetoRecording& recording, const Attribution& attribution,
                                  const CollectiveCall& call);

} // namespace stepsim::io
