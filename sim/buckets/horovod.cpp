// Horovod's fusion buffer: a background loop wakes every cycle, takes the gradients that are ready
// and packs them, in order, into messages of at most the fusion threshold. MER 5.3.
//
//     threshold 4: ready 3, 2, 2   ->   messages {3} {2, 2}: the crossing tensor opens the next one
#include "buckets/schedules.hpp"

#include <cmath>
#include <iterator>

#include "base/collected.hpp"
#include "base/quantity.hpp"
#include "buckets/planner_options.hpp"

namespace stepsim::buckets {

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

// Gradients that are ready and not sent yet, in order.
class ReadyQueue {
public:
  explicit ReadyQueue(const std::vector<Item>& items) : items_(items) {}

  void push(std::size_t item) { queue_.push_back(static_cast<std::uint32_t>(item)); }
  [[nodiscard]] bool empty() const { return head_ == queue_.size(); }

  // Takes one message off the queue. Items of another dtype are looked past while the message and
  // everything skipped would still fit; they stay in the queue, in order.
  std::vector<std::uint32_t> take_message(std::int64_t fusion_bytes) {
    const Item& head = items_[queue_[head_]];
    std::int64_t size = head.bytes.value;
    std::int64_t skipped = 0;
    skipped_.clear();
    std::size_t next = head_ + 1;
    for (; next < queue_.size(); ++next) {
      const Item& item = items_[queue_[next]];
      if (item.dtype == head.dtype && size + item.bytes.value <= fusion_bytes) {
        size += item.bytes.value;
        continue;
      }
      if (size + skipped + item.bytes.value > fusion_bytes) {
        break;
      }
      skipped += item.bytes.value;
      skipped_.push_back(queue_[next]);
    }
    std::vector<std::uint32_t> message;
    message.reserve(next - head_ - skipped_.size());
    std::set_difference(queue_.begin() + offset(head_), queue_.begin() + offset(next),
                        skipped_.begin(), skipped_.end(), std::back_inserter(message));
    head_ = next - skipped_.size();
    std::ranges::copy(skipped_, queue_.begin() + offset(head_));
    return message;
  }

private:
  static std::ptrdiff_t offset(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }

  const std::vector<Item>& items_;
  std::vector<std::uint32_t> queue_; // ascending from head_ on; items before it are sent
  std::vector<std::uint32_t> skipped_;
  std::size_t head_ = 0;
};

} // namespace

Plan plan_horovod(const Problem& problem, const ScheduleOptions& options) {
  const std::vector<Item>& items = problem.items;
  const double cycle = options.cycle.value;
  Plan plan;
  plan.groups.reserve(items.size());
  ReadyQueue queue(items);
  double tick = options.phase.value;
  double end = problem.channel_free.value;
  double woken = tick; // the tick, less what it waits for the channel
  Seconds ready;
  for (std::size_t next = 0; next < items.size();) {
    const double first = first_tick(tick, cycle, items[next].ready.value);
    woken = first > tick ? first : woken;
    tick = first;
    while (next < items.size() && ready_at(items[next].ready.value, tick)) {
      queue.push(next++);
    }
    while (!queue.empty()) {
      Group group;
      group.items = queue.take_message(options.fusion_bytes.value);
      const double bytes = base::sum_of<double>(
          group.items, [&](std::uint32_t item) { return items[item].bytes.value; });
      // Only the channel says when the last message has ended: in a run it may last longer or
      // shorter than its cost here.
      ready = std::max({ready, Seconds{woken}, items[group.items.back()].ready});
      group.ready = ready;
      end = std::max(end, tick) + problem.cost.seconds(bytes, group.items.size());
      plan.groups.push_back(std::move(group));
    }
    tick += cycle;
    const bool blocked = options.blocking && end > tick;
    woken = blocked ? woken + cycle : tick;
    tick = blocked ? end : tick;
  }
  return plan;
}

std::string horovod_settings(const ScheduleOptions& options) {
  return "fusion buffer of " + base::readable_size(options.fusion_bytes.value) + ", cycles of " +
         base::shortest(base::rounded_to(options.cycle.value * 1e3, 3)) + " ms";
}

} // namespace stepsim::buckets
