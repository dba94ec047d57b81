// The best partition into runs: F_i = min over j < i of max(F_j, r_i) + T(S_i - S_j), exact for any
// cost of a group's bytes and count, since an earlier end of a prefix never hurts. MER 5.7
// (derived). O(items) for a linear cost (batch.hpp), O(items^2) for any other.
#include "plan/optimal.hpp"

#include <algorithm>
#include <tuple>

#include "plan/batch.hpp"
#include "plan/groups.hpp"
#include "plan/planner_options.hpp"

namespace stepsim::plan {

namespace {

// Relative: what two sums of the same times may differ by. Ties go to the smallest j (MER 5.7).
constexpr double kTie = 1e-12;

// back[i] = number of items before the last group of the best plan of the first i items.
Plan plan_from_back(const Problem& problem, const std::vector<std::uint32_t>& back) {
  Plan plan;
  for (std::size_t end = problem.items.size(); end > 0; end = back[end]) {
    add_run(plan, problem, back[end], end - 1);
  }
  std::reverse(plan.groups.begin(), plan.groups.end());
  return plan;
}

std::vector<std::uint32_t> best_back_any_cost(const Problem& problem, const BatchItems& items) {
  const std::size_t count = items.size();
  std::vector<double> finish(count + 1);
  std::vector<std::uint32_t> back(count + 1);
  finish[0] = items.channel_free_s;
  for (std::size_t i = 1; i <= count; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double bytes = items.prefix_bytes[i] - items.prefix_bytes[j];
      const double end =
          std::max(finish[j], items.ready_s[i - 1]) + problem.cost.seconds(bytes, i - j);
      if (j == 0 || end < finish[i] * (1 - kTie)) {
        finish[i] = end;
        back[i] = static_cast<std::uint32_t>(j);
      }
    }
  }
  return back;
}

} // namespace

Plan plan_optimal(const Problem& problem, const ScheduleOptions& /*options*/) {
  const BatchItems items = batch_items(problem);
  if (!problem.cost.is_linear()) {
    return plan_from_back(problem, best_back_any_cost(problem, items));
  }
  std::vector<double> finish(items.size() + 1);
  std::vector<std::uint32_t> back(items.size() + 1);
  std::ignore = optimal_finish(items, std::get<LinearCost>(problem.cost.base), finish, back);
  return plan_from_back(problem, back);
}

} // namespace stepsim::plan
