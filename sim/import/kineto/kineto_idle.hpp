#pragma once
// What the device waits for while it is idle (INP 1.9). A gap between two items of a step, over all
// streams of the device, is a launch gap if the launch of the item after it began later than 2 us
// before the gap, or returned after the gap began: the host was late. All other gaps are
// dependencies: the device waited for a stream, a collective or an event.
#include <span>
#include <vector>

#include "import/kineto/kineto_attribution.hpp"

namespace stepsim::io {

struct IdleTime {       // of one step
  Nanoseconds span{};   // from the start of its first item to the end of its last
  Nanoseconds idle{};   // of it
  Nanoseconds launch{}; // in launch gaps
};

// One value per step; `items` are sorted by step.
[[nodiscard]] std::vector<IdleTime> idle_times(std::span<const DeviceItem> items,
                                               std::size_t steps);

} // namespace stepsim::io
