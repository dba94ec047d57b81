// Never wait: whenever the channel is free, everything that is ready goes as one message. MER 5.5.
#include "buckets/schedules.hpp"

#include <algorithm>

#include "buckets/planner_options.hpp"

namespace stepsim::buckets {

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
    add_run(plan, problem, first, next - 1, bytes);
    now += problem.cost.seconds(bytes, next - first);
    first = next;
  }
  return plan;
}

} // namespace stepsim::buckets
