#include "buckets/problem.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "buckets/planners.hpp"
#include "buckets/sending.hpp"

namespace stepsim::buckets {

void add_run(Plan& plan, const Problem& problem, std::size_t first, std::size_t last) {
  assert(first <= last && last < problem.items.size() && "a group is a run of items");
  Group group;
  group.items.resize(last - first + 1);
  std::iota(group.items.begin(), group.items.end(), static_cast<std::uint32_t>(first));
  group.ready = problem.items[last].ready;
  plan.groups.push_back(std::move(group));
}

void add_runs(Plan& plan, const Problem& problem, std::span<const std::size_t> firsts) {
  for (std::size_t g = 0; g < firsts.size(); ++g) {
    const std::size_t end = g + 1 < firsts.size() ? firsts[g + 1] : problem.items.size();
    add_run(plan, problem, firsts[g], end - 1);
  }
}

void count_bytes(const Problem& problem, Plan& plan) {
  for (Group& group : plan.groups) {
    if (group.bytes.value == 0) {
      for (const std::uint32_t item : group.items) {
        group.bytes += problem.items[item].bytes;
      }
    }
  }
}

void replay_groups(const Problem& problem, const Planner& planner, const ScheduleOptions& options,
                   Plan& plan) {
  Sending sending;
  sending.options = options;
  std::vector<double> ready;
  const bool phases = planner.needs_linear_cost() || planner.shares_channel(options);
  const auto* linear =
      phases && problem.cost.is_linear() ? std::get_if<LinearCost>(&problem.cost.base) : nullptr;
  for (const Group& group : plan.groups) {
    const auto bytes = static_cast<double>(group.bytes.value);
    Transfer& transfer = sending.transfers.emplace_back();
    if (linear != nullptr) {
      transfer.startup_s = linear->startup_s;
      transfer.data_s = linear->per_byte_s * bytes;
    } else {
      transfer.data_s = problem.cost.seconds(bytes, group.items.size());
    }
    ready.push_back(group.ready.value);
  }
  SendTimes times;
  planner.sender(options)(sending, {.ready_s = ready, .channel_free_s = problem.channel_free.value},
                          times);
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    plan.groups[g].start = Seconds{times.start_s[g]};
    plan.groups[g].end = Seconds{times.end_s[g]};
  }
  plan.finish = std::max(problem.items.back().ready, Seconds{times.finish_s});
}

} // namespace stepsim::buckets
