#include "buckets/problem.hpp"

#include "buckets/planners.hpp"
#include "buckets/sending.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace stepsim::buckets {

void add_run(Plan& plan, const Problem& problem, std::size_t first, std::size_t last,
             double bytes) {
  assert(first <= last && last < problem.items.size() && "a group is a run of items");
  Group group;
  group.bytes = Bytes{static_cast<std::int64_t>(bytes)};
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

Seconds finish_lower_bound(const Problem& problem) {
  assert(!problem.items.empty() && "a problem has at least one item");
  const Seconds last_ready = problem.items.back().ready;
  const auto has_bytes = [](const Item& item) { return item.bytes.value > 0; };
  const auto first = std::find_if(problem.items.begin(), problem.items.end(), has_bytes);
  if (first == problem.items.end()) {
    return last_ready;
  }
  const auto last = std::find_if(problem.items.rbegin(), problem.items.rend(), has_bytes);
  // The message with the last bytes starts no earlier than they are ready. It is no shorter than
  // they alone where T does not decrease; a curve may, and then some last items are the cheapest.
  const bool may_decrease = std::holds_alternative<CurveCost>(problem.cost.base);
  double total = 0;
  double least = -1;
  for (auto item = last; item != problem.items.rend(); ++item) {
    total += static_cast<double>(item->bytes.value);
    if (item->bytes.value > 0 && (least < 0 || may_decrease)) {
      const double seconds = problem.cost.seconds(total, 1);
      least = least < 0 ? seconds : std::min(least, seconds);
    }
  }
  Seconds bound = std::max(last_ready, last->ready + Seconds{least});
  // All messages follow one another on the channel; together they take at least T(all bytes).
  // Copies are left out: messages of one item need none.
  if (known_subadditive(problem.cost, total)) {
    bound = std::max(bound, std::max(problem.channel_free, first->ready) +
                                Seconds{problem.cost.seconds(total, 1)});
  }
  return bound;
}

double least_slowdown(const ScheduleOptions& options) {
  // (1 + c (k - 1)) / k = c + (1 - c) / k is monotone in k: one end is the least.
  const double most =
      options.contention + (1 - options.contention) / static_cast<double>(options.concurrency);
  return std::min(1.0, most);
}

Seconds finish_lower_bound_at_once(const Problem& problem, const ScheduleOptions& options) {
  assert(problem.cost.is_linear() && !problem.items.empty() && "a linear cost, at least one item");
  const auto& cost = std::get<LinearCost>(problem.cost.base);
  Seconds bound = problem.items.back().ready;
  double total = 0;
  double first_ready = -1;
  for (const Item& item : problem.items) {
    if (item.bytes.value > 0) {
      const auto bytes = static_cast<double>(item.bytes.value);
      total += bytes;
      first_ready = first_ready < 0 ? item.ready.value : first_ready;
      bound = std::max(bound, item.ready + Seconds{problem.cost.seconds(bytes, 1)});
    }
  }
  if (total > 0) {
    bound =
        std::max(bound, Seconds{std::max(problem.channel_free.value, first_ready) + cost.startup_s +
                                cost.per_byte_s * total * least_slowdown(options)});
  }
  return bound;
}

bool certified_optimal(const Problem& problem, const Plan& mg_wfbp_plan) {
  return problem.cost.is_linear() && mg_wfbp_plan.waiting_merges == 0;
}

} // namespace stepsim::buckets
