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

// `saving(bytes, items, more)` is what one message of the open group with so many bytes and items
// and of an item with `more` bytes saves over two.
template <class Saving>
Plan plan_greedy(const Problem& problem, std::int64_t always_merge_below_elements,
                 const Saving& saving) {
  const std::span<const Item> items = problem.items;
  const bool counts = always_merge_below_elements > 0;
  Plan plan;
  double start = problem.channel_free.value;
  for (std::size_t first = 0; first < items.size();) {
    start = std::max(start, items[first].ready.value); // as it would be without a further merge
    double bytes = 0;
    std::int64_t elements = 0;
    std::int64_t waiting = 0;
    std::size_t next = first;
    for (bool joins = true; joins;) {
      bytes += static_cast<double>(items[next].bytes.value);
      elements += counts ? elements_of(items[next]) : 0;
      joins = ++next < items.size();
      if (joins) {
        const double wait = items[next].ready.value - start;
        const auto more = static_cast<double>(items[next].bytes.value);
        joins = wait < saving(bytes, next - first, more) || elements < always_merge_below_elements;
        if (joins && wait > 0) {
          ++waiting;
          start = items[next].ready.value;
        }
      }
    }
    plan.waiting_merges += waiting;
    add_run(plan, problem, first, next - 1, bytes);
    start += problem.cost.seconds(bytes, next - first);
    first = next;
  }
  return plan;
}

Plan plan_greedy(const Problem& problem, std::int64_t always_merge_below_elements) {
  const Cost& cost = problem.cost;
  if (cost.is_linear()) { // the start-up itself
    const double startup = std::get<LinearCost>(cost.base).startup_s;
    return plan_greedy(problem, always_merge_below_elements,
                       [startup](double, std::size_t, double) { return startup; });
  }
  return plan_greedy(problem, always_merge_below_elements,
                     [&](double bytes, std::size_t count, double more) {
                       return cost.seconds(bytes, count) + cost.seconds(more, 1) -
                              cost.seconds(bytes + more, count + 1);
                     });
}

} // namespace

Plan plan_mg_wfbp(const Problem& problem, const ScheduleOptions& /*options*/) {
  return plan_greedy(problem, 0);
}

Plan plan_mg_wfbp_small_tensors(const Problem& problem, const ScheduleOptions& /*options*/) {
  return plan_greedy(problem, kSmallGroupElements);
}

// Both decide alike until a group is closed that has few elements.
bool merges_small_tensors(const Problem& problem, const Plan& mg_wfbp_plan) {
  const std::vector<Group>& groups = mg_wfbp_plan.groups;
  return std::any_of(groups.begin(), groups.end() - 1, [&](const Group& group) {
    std::int64_t elements = 0;
    return std::ranges::none_of(group.items, [&](std::uint32_t item) {
      elements += elements_of(problem.items[item]);
      return elements >= kSmallGroupElements;
    });
  });
}

} // namespace stepsim::buckets
