#pragma once
// Why the device is idle (INP 1.9). A gap is a time within a step in which no stream of the device
// runs an item. It is a launch gap, caused by a late host, if the launch of the item after the gap
// had not begun 2 us before the gap, or had not returned when the gap began. In all other gaps the
// device waited for a dependency: a stream, a collective or an event.
#include <span>
#include <vector>

#include "import/kineto/kineto_attribution.hpp"

namespace stepsim::io {

struct IdleTime {       // idle times of one step
  Nanoseconds span{};   // from the start of its first item to the end of its last
  Nanoseconds idle{};   // sum of all gaps
  Nanoseconds launch{}; // sum of the launch gaps
};

// One value per step. `items` must be sorted by step; items outside all steps are ignored.
[[nodiscard]] std::vector<IdleTime> idle_times(std::span<const DeviceItem> items,
                                               std::size_t steps);

} // namespace stepsim::io
