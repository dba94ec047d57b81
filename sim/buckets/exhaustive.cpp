// All 2^(n-1) partitions into runs, depth first; the oracle of the tests. Ties: fewest groups, then
// the lexicographically smallest list of first items. MER 5.6.
#include "buckets/schedules.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "buckets/planner_options.hpp"

namespace stepsim::buckets {

namespace {

struct ExhaustiveSearch {
  const Problem& problem;
  std::vector<std::size_t> firsts{}; // of the groups chosen so far
  std::vector<std::size_t> best{};
  double best_finish = std::numeric_limits<double>::infinity();

  // Groups from item `first` on; short groups first, so that lists come in lexicographic order.
  void extend(std::size_t first, double free) {
    const std::size_t count = problem.items.size();
    if (first == count) {
      if (free < best_finish || (free == best_finish && firsts.size() < best.size())) {
        best_finish = free;
        best = firsts;
      }
      return;
    }
    firsts.push_back(first);
    double bytes = 0;
    for (std::size_t last = first; last < count; ++last) {
      bytes += static_cast<double>(problem.items[last].bytes.value);
      const double start = std::max(free, problem.items[last].ready.value);
      extend(last + 1, start + problem.cost.seconds(bytes, last - first + 1));
    }
    firsts.pop_back();
  }
};

} // namespace

Plan plan_exhaustive(const Problem& problem, const ScheduleOptions& /*options*/) {
  const std::size_t count = problem.items.size();
  if (count > kMaxExhaustiveItems) {
    throw UsageError(
        fmt::format("exhaustive search is limited to {} gradients, got {}; use optimal",
                    kMaxExhaustiveItems, count));
  }
  ExhaustiveSearch search{.problem = problem};
  search.extend(0, problem.channel_free.value);
  Plan plan;
  add_runs(plan, problem, search.best);
  return plan;
}

} // namespace stepsim::buckets
