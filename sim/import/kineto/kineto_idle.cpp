// Gaps of the device are found in one pass over all items; each is cut to the steps it lies in.
#include "import/kineto/kineto_idle.hpp"

#include <algorithm>
#include <tuple>

namespace stepsim::io {

namespace {

constexpr Nanoseconds kLate = 2000; // a launch that began this long before the gap was in time

// The part of a gap [begin, end) in each step. Steps are sorted by start; overlapping steps each
// get their part.
void add_gap(Nanoseconds begin, Nanoseconds end, bool launch, std::span<const KinetoStep> steps,
             std::size_t& first, std::vector<IdleTime>& idle) {
  while (first < steps.size() && steps[first].end <= begin) {
    ++first;
  }
  for (std::size_t i = first; i < steps.size() && steps[i].begin < end; ++i) {
    const Nanoseconds part = std::min(end, steps[i].end) - std::max(begin, steps[i].begin);
    if (part > 0) {
      idle[i].idle += part;
      idle[i].launch += launch ? part : 0;
    }
  }
}

} // namespace

std::vector<IdleTime> idle_times(std::span<const DeviceItem> items,
                                 std::span<const KinetoStep> steps) {
  std::vector<IdleTime> idle(steps.size());
  if (items.empty() || steps.empty()) {
    return idle;
  }
  std::vector<const DeviceItem*> order;
  for (const DeviceItem& item : items) {
    order.push_back(&item);
  }
  std::ranges::sort(order, {}, [](const DeviceItem* i) { return std::tuple(i->begin, i->launched); });
  Nanoseconds until = std::min(steps.front().begin, order.front()->begin); // end of the union
  std::size_t first = 0;
  for (const DeviceItem* item : order) {
    if (item->begin > until) {
      const bool known = item->thread >= 0;
      const bool launch = known && (item->launched > until - kLate || item->launch_end > until);
      add_gap(until, item->begin, launch, steps, first, idle);
    }
    until = std::max(until, item->end);
  }
  if (steps.back().end > until) { // nothing was launched any more
    add_gap(until, steps.back().end, true, steps, first, idle);
  }
  return idle;
}

} // namespace stepsim::io
