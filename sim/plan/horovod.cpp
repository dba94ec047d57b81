// Horovod's fusion buffer: a background loop wakes every cycle, takes the gradients that are ready
// and packs them, in order, into messages of at most the fusion threshold. MER 5.3.
//
//     threshold 4: ready 3, 2, 2   ->   messages {3} {2, 2}: the crossing tensor opens the next one
#include "plan/horovod.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "base/number_text.hpp"
#include "base/quantity.hpp"
#include "plan/planner_options.hpp"

namespace stepsim::plan {

namespace {

// A gradient that is ready exactly at a tick counts as ready there, whatever the rounding of sums.
bool ready_at(double ready, double tick) { return ready <= tick + 1e-12 * std::abs(tick); }

// Smallest tick + k cycles (k whole) at which `ready` is ready.
double first_tick(double tick, double cycle, double ready) {
  if (ready_at(ready, tick)) {
    return tick;
  }
  if (cycle <= 0) {
    return ready;
  }
  const double cycles = std::floor((ready - tick) / cycle);
  const double before = tick + cycles * cycle;
  return ready_at(ready, before) ? before : tick + (cycles + 1) * cycle;
}

// Takes one message off the queue. Items of another dtype are looked past while the message and
// everything skipped would still fit; they stay in the queue, in order.
std::vector<std::uint32_t> take_message(std::deque<std::uint32_t>& queue, const Problem& problem,
                                        std::int64_t fusion_bytes) {
  std::vector<std::uint32_t> message{queue.front()};
  const Item& head = problem.items[queue.front()];
  queue.pop_front();
  std::int64_t size = head.bytes.value;
  std::int64_t skipped = 0;
  for (auto next = queue.begin(); next != queue.end();) {
    const Item& item = problem.items[*next];
    if (item.dtype == head.dtype && size + item.bytes.value <= fusion_bytes) {
      size += item.bytes.value;
      message.push_back(*next);
      next = queue.erase(next);
    } else {
      skipped += item.bytes.value;
      if (size + skipped > fusion_bytes) {
        break;
      }
      ++next;
    }
  }
  return message;
}

} // namespace

Plan plan_horovod(const Problem& problem, const ScheduleOptions& options) {
  const std::vector<Item>& items = problem.items;
  const double cycle = options.cycle.value;
  Plan plan;
  double tick = options.phase.value;
  double end = problem.channel_free.value;
  for (std::size_t next = 0; next < items.size();) {
    tick = first_tick(tick, cycle, items[next].ready.value);
    std::deque<std::uint32_t> queue;
    while (next < items.size() && ready_at(items[next].ready.value, tick)) {
      queue.push_back(static_cast<std::uint32_t>(next++));
    }
    while (!queue.empty()) {
      Group group;
      group.items = take_message(queue, problem, options.fusion_bytes.value);
      double bytes = 0;
      for (const std::uint32_t item : group.items) {
        bytes += static_cast<double>(items[item].bytes.value);
      }
      group.ready = std::max(Seconds{tick}, items[group.items.back()].ready);
      end = std::max(end, group.ready.value) + problem.cost.seconds(bytes, group.items.size());
      plan.groups.push_back(std::move(group));
    }
    tick += cycle;
    if (options.blocking) {
      tick = std::max(tick, end);
    }
  }
  return plan;
}

std::string horovod_settings(const ScheduleOptions& options) {
  return "fusion buffer of " + base::readable_size(options.fusion_bytes.value) + ", cycles of " +
         base::shortest(base::rounded_to(options.cycle.value * 1e3, 3)) + " ms";
}

} // namespace stepsim::plan
