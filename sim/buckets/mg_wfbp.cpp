// The published greedy: merge the next gradient into the open group iff waiting for it, counted
// from the start the group would have, costs less than the start-up saved. O(items). MER 5.4.
//
//     open group may start at 0, start-up 1:    next ready at 0.9: merge (a wait), start = 0.9
//                                               next ready at 1.0: close the group (strict <)
#include "buckets/schedules.hpp"

#include <algorithm>

#include "buckets/planner_options.hpp"

namespace stepsim::buckets {

namespace {

constexpr std::int64_t kSmallGroupElements = 8192;

std::int64_t elements_of(const Item& item) {
  return item.elements > 0 ? item.elements : item.bytes.value / 4;
}

// The group being built: bytes and start as they were without a further merge.
struct Open {
  std::size_t first{};
  double start{};
  double bytes{};
  std::int64_t elements{};
};

Plan plan_greedy(const Problem& problem, std::int64_t always_merge_below_elements) {
  const std::span<const Item> items = problem.items;
  const Cost& cost = problem.cost;
  const auto* linear = cost.is_linear() ? std::get_if<LinearCost>(&cost.base) : nullptr;
  Plan plan;
  const auto open_at = [&](std::size_t item, double free) {
    return Open{item, std::max(free, items[item].ready.value),
                static_cast<double>(items[item].bytes.value), elements_of(items[item])};
  };
  Open open = open_at(0, problem.channel_free.value);
  for (std::size_t i = 1; i < items.size(); ++i) {
    const double bytes = static_cast<double>(items[i].bytes.value);
    const double wait = items[i].ready.value - open.start;
    const std::size_t count = i - open.first;
    // What one message saves over two: the start-up itself where the cost is linear.
    const double saving = linear != nullptr
                              ? linear->startup_s
                              : cost.seconds(open.bytes, count) + cost.seconds(bytes, 1) -
                                    cost.seconds(open.bytes + bytes, count + 1);
    if (wait < saving || open.elements < always_merge_below_elements) {
      if (wait > 0) {
        ++plan.waiting_merges;
        open.start = items[i].ready.value;
      }
      open.bytes += bytes;
      open.elements += elements_of(items[i]);
    } else {
      add_run(plan, problem, open.first, i - 1);
      open = open_at(i, open.start + cost.seconds(open.bytes, count));
    }
  }
  add_run(plan, problem, open.first, items.size() - 1);
  return plan;
}

} // namespace

Plan plan_mg_wfbp(const Problem& problem, const ScheduleOptions& /*options*/) {
  return plan_greedy(problem, 0);
}

Plan plan_mg_wfbp_small_tensors(const Problem& problem, const ScheduleOptions& /*options*/) {
  return plan_greedy(problem, kSmallGroupElements);
}

} // namespace stepsim::buckets
