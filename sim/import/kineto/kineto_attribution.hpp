#pragma once
// Which operator of the host, which training step and which class every piece of device work
// belongs to (IO 4.3, 4.4). The chain is  item -> launch with the same correlation -> top-level
// operator that contains the launch's start on its thread; the step is the one that contains the
// launch's start, because queues run ahead of the device.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "import/kineto/kineto_events.hpp"
#include "import/kineto/kineto_steps.hpp"

namespace stepsim::io {

inline constexpr std::string_view kBackwardPrefix = "autograd::engine::evaluate_function: ";

// A node of autograd's graph that runs in the backward pass; a gradient node accumulates the
// gradient of one parameter.
enum class NodeKind : std::uint8_t { none, backward, gradient };

// update: launched inside Optimizer.step#; backward: by an operator of autograd; framework: copies
// between gradients and buckets by DDP and c10d; input: copies to the device by the forward thread;
// forward: all else of that thread; communication: kernels of a communication library by their
// names, or launched by a call that is annotated as one of NCCL, on whatever thread; other:
// zeroing gradients, work launched by further threads, outside all steps or by an unknown launch.
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

// An operator that lies in no other one on its thread.
struct TopOperator {
  Nanoseconds begin{};
  Nanoseconds end{};
  std::int32_t event{};
  std::int32_t thread{};
  NodeKind kind = NodeKind::none;
};

// An operator at any depth, by the outermost one that it lies in.
struct Operator {
  std::int32_t event{};
  std::int32_t top{}; // index into tops
};

// One kernel, copy or fill, with what launched it.
struct DeviceItem {
  Nanoseconds begin{};
  Nanoseconds end{};
  Nanoseconds launched{};   // start of the launch; 0 where it is missing
  Nanoseconds launch_end{}; // when the launch returned
  std::int32_t thread = -1; // of the launch
  std::int32_t event{};     // index into the events of the recording
  std::int32_t top = -1;  // index into tops; -1: launched outside all operators, or launch missing
  std::int32_t step = -1; // index into the steps; -1: outside all of them, or launch missing
  WorkClass work = WorkClass::other;
  bool in_graph = false; // launched with a whole CUDA graph
  [[nodiscard]] Nanoseconds duration() const { return end - begin; }
};

struct Attribution {
  std::vector<TopOperator> tops;   // by (thread, begin)
  std::vector<Operator> operators; // all operators by (thread, begin, longest first)
  std::vector<DeviceItem> items;   // by (step, launched); a total order
  Nanoseconds device_time{};       // of all items
  Nanoseconds outside_steps{};     // of items with step -1
};

// A time on the host, on one thread.
struct HostInterval {
  std::int32_t thread{};
  Nanoseconds begin{};
  Nanoseconds end{};
};

// The last of `intervals` that begins at or before `moment` on `thread` and ends after it;
// intervals are sorted by (thread, begin) and do not overlap on a thread. -1 if none.
template <class Intervals>
[[nodiscard]] std::int32_t interval_at(const Intervals& intervals, std::int32_t thread,
                                       Nanoseconds moment) {
  const auto after = std::upper_bound(intervals.begin(), intervals.end(), std::tie(thread, moment),
                                      [](const auto& key, const auto& interval) {
                                        return key < std::tie(interval.thread, interval.begin);
                                      });
  if (after == intervals.begin()) {
    return -1;
  }
  const auto& candidate = *(after - 1);
  if (candidate.thread != thread || moment >= candidate.end) {
    return -1;
  }
  return static_cast<std::int32_t>(after - intervals.begin() - 1);
}

// Annotations whose name starts with `prefix`, sorted; overlapping ones of a thread are joined.
[[nodiscard]] std::vector<HostInterval> annotated(const KinetoRecording& recording,
                                                  std::string_view prefix);

// "XBackward", "XBackward0": autograd's names of backward nodes.
[[nodiscard]] bool is_backward_name(std::string_view name);

// Operators that only wrap a part of the program, such as "## forward ##" of older profilers or
// "Torch-Compiled Region: 0/0", become annotations: they are no layers, the operators in them are.
void demote_ranges(KinetoRecording& recording);

[[nodiscard]] Attribution attribute(const KinetoRecording& recording,
                                    std::span<const KinetoStep> steps);

} // namespace stepsim::io
