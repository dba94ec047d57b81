// The buckets that a trace was measured with, in launch order. Like those of ddp they are launched
// in list order: none is sent before an earlier one is ready. Derived.
#include "buckets/schedules.hpp"

#include <map>

#include "buckets/planner_options.hpp"

namespace stepsim::buckets {

Plan plan_trace(const Problem& problem, const ScheduleOptions& /*options*/) {
  std::map<std::int64_t, std::vector<std::uint32_t>> members; // by measured bucket
  for (std::uint32_t i = 0; i < problem.items.size(); ++i) {
    assert(problem.items[i].bucket >= 0 && "every item has a bucket");
    members[problem.items[i].bucket].push_back(i);
  }
  Plan plan;
  Seconds ready = problem.items.front().ready;
  for (auto& [bucket, items] : members) {
    Group group;
    group.items = std::move(items);
    ready = std::max(ready, problem.items[group.last()].ready);
    group.ready = ready;
    plan.groups.push_back(std::move(group));
  }
  return plan;
}

std::string groups_settings(const ScheduleOptions& options) {
  return (options.schedule_name.empty() ? "" : options.schedule_name + ": ") +
         std::to_string(options.groups.size()) + " groups of layers";
}

} // namespace stepsim::buckets
