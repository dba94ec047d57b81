#pragma once
// How the device spends a step (all streams together; every moment counts once). A step lasts from
// the end of the work of the step before it to the end of its own, because the host runs ahead of
// the device, which may begin with the next step's work early:
//     stream 1   ..update| |forward...|backward...|  |update|
//     stream 2                  |exchange of gradients|
//     counts as          |h|compute...............|e|h|update|
// The first step of a recording begins with its own work, and lasts at least as long as on the
// host.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "import/kineto/kineto_calls.hpp"

namespace stepsim::io {

// A moment belongs to the first of these that the device does in it.
enum class DeviceUse : std::uint8_t {
  compute,
  exchange,          // of gradients or of shards of parameters
  other_collectives, // all others
  input,             // copies to the device
  host,              // nothing: the next work was launched late
  idle               // nothing: the next work waited for something else
};
inline constexpr std::size_t kDeviceUses = 6;

struct DeviceStep {
  std::array<Nanoseconds, kDeviceUses> uses{};
  [[nodiscard]] Nanoseconds of(DeviceUse use) const { return uses[static_cast<std::size_t>(use)]; }
  [[nodiscard]] Nanoseconds length() const;
};

// Takes a recording window by window. Each window holds the steps behind those of the last one; the
// device may run work of a later window first.
class DeviceClock {
public:
  void add(const KinetoRecording& recording, std::span<const KinetoStep> steps,
           const Attribution& attribution, std::span<const CollectiveCall> calls);
  [[nodiscard]] std::vector<DeviceStep> finish(); // [step] of all windows

private:
  struct Span {
    Nanoseconds begin{}, end{};
    Nanoseconds due{}; // the device was idle for want of a launch if it was idle before
    DeviceUse use{};
  };
  struct Mark {
    Nanoseconds begin{}, end{}; // of the step's own computing and exchanges; end 0: none
    Nanoseconds wall{};
  };
  [[nodiscard]] DeviceStep split(std::size_t& first, Nanoseconds begin, Nanoseconds end) const;

  std::vector<Span> spans_; // of all windows
  std::vector<Mark> marks_; // [step]
};

} // namespace stepsim::io
