#include "buckets/problem.hpp"

#include <algorithm>
#include <cassert>

#include "buckets/planner_options.hpp"

namespace stepsim::buckets {

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
