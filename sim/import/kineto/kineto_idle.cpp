// Items of one step in order of start; a gap is where the next one begins behind the end of all
// before.
#include "import/kineto/kineto_idle.hpp"

#include <algorithm>
#include <tuple>

namespace stepsim::io {

namespace {

constexpr Nanoseconds kLate = 2000; // a launch that began this long before the gap was in time

} // namespace

std::vector<IdleTime> idle_times(std::span<const DeviceItem> items, std::size_t steps) {
  std::vector<IdleTime> idle(steps);
  std::vector<const DeviceItem*> order;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].step >= 0) {
      order.push_back(&items[i]);
    }
    const bool last = i + 1 == items.size() || items[i + 1].step != items[i].step;
    if (!last || order.empty()) {
      continue;
    }
    IdleTime& time = idle[static_cast<std::size_t>(items[i].step)];
    std::ranges::sort(
        order, {}, [](const DeviceItem* item) { return std::tuple(item->begin, item->launched); });
    Nanoseconds until = order.front()->begin; // end of all items so far
    for (const DeviceItem* item : order) {
      if (item->begin > until) {
        time.idle += item->begin - until;
        if (item->launched > until - kLate || item->launch_end > until) {
          time.launch += item->begin - until;
        }
      }
      until = std::max(until, item->end);
    }
    time.span = until - order.front()->begin;
    order.clear();
  }
  return idle;
}

} // namespace stepsim::io
