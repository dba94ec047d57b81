#pragma once
// Which operator of the host, which training step and which class every piece of device work
// belongs to (IO 4.3, 4.4). The chain is  item -> launch with the same correlation -> top-level
// operator that contains the launch's start on its thread; the step is the one that contains the
// launch's start, because queues run ahead of the device.
#include <array>
#include <cstdint>
#include <vector>

#include "import/kineto/kineto_events.hpp"
#include "import/kineto/kineto_steps.hpp"

namespace stepsim::io {

inline constexpr std::string_view kBackwardPrefix = "autograd::engine::evaluate_function: ";

// update: launched inside Optimizer.step#; backward: by an operator of autograd; framework: copies
// between gradients and buckets by DDP and c10d; input: copies to the device by the forward thread;
// forward: all else of that thread; communication: kernels of NCCL, whoever launched them; other:
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
  Nanoseconds launched{}; // 0 where the launch is missing
  std::int32_t event{};   // index into the events of the recording
  std::int32_t top = -1;  // index into tops; -1: launched outside all operators, or launch missing
  std::int32_t step = -1; // index into the steps; -1: outside all of them, or launch missing
  WorkClass work = WorkClass::other;
  [[nodiscard]] Nanoseconds duration() const { return end - begin; }
};

struct Attribution {
  std::vector<TopOperator> tops;   // by (thread, begin)
  std::vector<Operator> operators; // all operators by (thread, begin, longest first)
  std::vector<DeviceItem> items;   // by (step, launched); a total order
  Nanoseconds device_time{};       // of all items
  Nanoseconds outside_steps{};     // of items with step -1
};

[[nodiscard]] Attribution attribute(const KinetoRecording& recording,
                                    std::span<const KinetoStep> steps);

} // namespace stepsim::io
