// Planners that go through the items once and decide each merge at once. MER 5.1, 5.5.
#include "buckets/schedules.hpp"

#include <algorithm>

#include "buckets/planner_options.hpp"

namespace stepsim::buckets {

Plan plan_wfbp(const Problem& problem, const ScheduleOptions& /*options*/) {
  Plan plan;
  plan.groups.reserve(problem.items.size());
  for (std::size_t item = 0; item < problem.items.size(); ++item) {
    add_run(plan, problem, item, item);
  }
  return plan;
}

Plan plan_single(const Problem& problem, const ScheduleOptions& /*options*/) {
  Plan plan;
  add_run(plan, problem, 0, problem.items.size() - 1);
  return plan;
}

Plan plan_eager(const Problem& problem, const ScheduleOptions& /*options*/) {
  Plan plan;
  const std::size_t count = problem.items.size();
  double now = problem.channel_free.value;
  for (std::size_t first = 0; first < count;) {
    now = std::max(now, problem.items[first].ready.value);
    std::size_t next = first;
    double bytes = 0;
    while (next < count && problem.items[next].ready.value <= now) {
      bytes += static_cast<double>(problem.items[next].bytes.value);
      ++next;
    }
    add_run(plan, problem, first, next - 1);
    now += problem.cost.seconds(bytes, next - first);
    first = next;
  }
  return plan;
}

} // namespace stepsim::buckets
