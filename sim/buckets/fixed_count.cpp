// A given number of contiguous buckets whose sizes are as equal as they can be: the least sum of
// squared bytes, and so the least variance. Source: derived.
//
//     sizes 5, 1, 1, 1, 4, 3 buckets   ->   {5} {1, 1, 1} {4}
//
// cost(j, b) = min over i < j of cost(i, b - 1) + (sum of items i .. j - 1)^2. The best i does not
// fall as j rises, so a row of the table is filled by halves: O(buckets n log n).
#include "buckets/schedules.hpp"

#include "base/collected.hpp"
#include "buckets/planner_options.hpp"

namespace stepsim::buckets {

namespace {

struct Table {
  std::vector<double> sums;        // [n + 1] bytes of the first items, as parts of the whole
  std::vector<double> before, now; // costs of j items, in b - 1 and in b buckets
  std::vector<std::vector<std::uint32_t>> choice; // [b][j] items before the last bucket
};

// Fills now[low..high]; the best last cut lies in [first, last].
void fill(Table& table, std::vector<std::uint32_t>& choice, std::size_t low, std::size_t high,
          std::size_t first, std::size_t last) {
  const std::size_t middle = low + (high - low) / 2;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t cut = first; cut <= std::min(last, middle - 1); ++cut) {
    const double bytes = table.sums[middle] - table.sums[cut];
    const double cost = table.before[cut] + bytes * bytes;
    if (cost < best) {
      best = cost;
      choice[middle] = static_cast<std::uint32_t>(cut);
    }
  }
  table.now[middle] = best;
  if (low < middle) {
    fill(table, choice, low, middle - 1, first, choice[middle]);
  }
  if (middle < high) {
    fill(table, choice, middle + 1, high, choice[middle], last);
  }
}

} // namespace

Plan plan_fixed_count(const Problem& problem, const ScheduleOptions& options) {
  const std::size_t items = problem.items.size();
  const auto buckets =
      static_cast<std::size_t>(std::min(options.buckets, static_cast<std::int64_t>(items)));
  Table table;
  const double total =
      base::sum_of<double>(problem.items, [](const Item& item) { return item.bytes.value; });
  table.sums.assign(items + 1, 0);
  for (std::size_t i = 0; i < items; ++i) {
    table.sums[i + 1] = table.sums[i] + static_cast<double>(problem.items[i].bytes.value) / total;
  }
  constexpr double kImpossible = std::numeric_limits<double>::infinity();
  table.now.assign(items + 1, kImpossible);
  table.now[0] = 0;
  for (std::size_t b = 1; b <= buckets; ++b) {
    table.before = table.now;
    table.now.assign(items + 1, kImpossible);
    table.choice.emplace_back(items + 1);
    fill(table, table.choice.back(), b, items - (buckets - b), b - 1, items - 1);
  }
  std::vector<std::size_t> firsts(buckets);
  for (std::size_t b = buckets, end = items; b-- > 1; end = firsts[b]) {
    firsts[b] = table.choice[b][end];
  }
  Plan plan;
  add_runs(plan, problem, firsts);
  return plan;
}

} // namespace stepsim::buckets
