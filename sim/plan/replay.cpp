#include <algorithm>
#include <cassert>
#include <numeric>

#include "plan/schedules.hpp"

namespace stepsim::plan {

void add_run(Plan& plan, const Problem& problem, std::size_t first, std::size_t last) {
  assert(first <= last && last < problem.items.size() && "a group is a run of items");
  Group group;
  group.items.resize(last - first + 1);
  std::iota(group.items.begin(), group.items.end(), static_cast<std::uint32_t>(first));
  group.ready = problem.items[last].ready;
  plan.groups.push_back(std::move(group));
}

void replay_groups(const Problem& problem, Plan& plan) {
  Seconds free = problem.channel_free;
  for (Group& group : plan.groups) {
    group.bytes = {};
    for (const std::uint32_t item : group.items) {
      group.bytes += problem.items[item].bytes;
    }
    const double seconds =
        problem.cost.seconds(static_cast<double>(group.bytes.value), group.items.size());
    group.start = std::max(free, group.ready);
    group.end = group.start + Seconds{seconds};
    free = group.end;
  }
  plan.finish = problem.items.back().ready;
  if (!plan.groups.empty()) {
    plan.finish = std::max(plan.finish, plan.groups.back().end);
  }
}

} // namespace stepsim::plan
