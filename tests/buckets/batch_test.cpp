#include "buckets/batch.hpp"

#include <algorithm>
#include <cmath>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "buckets/plan_problems.hpp"
#include "buckets/planners.hpp"

using namespace stepsim::buckets;
using namespace stepsim::buckets::testing;
using stepsim::base::RandomStream;

namespace {

// One of the constants, from a tenth to ten times, or 0.
double around(double value, RandomStream& random) {
  return random.integer(0, 9) == 0 ? 0.0 : value * std::pow(10, random.uniform(-1, 1));
}

} // namespace

TEST_CASE("batch: the best prefix of all items ends as the best plan, by any linear cost") {
  const std::uint64_t seed = 8;
  for (std::uint64_t instance = 0; instance < 200; ++instance) {
    CAPTURE(instance);
    RandomStream random({.seed = seed, .point = instance});
    const RandomShape shape{
        .min_items = 1, .max_items = 40, .empty_items = true, .repeated_ready = true};
    Problem problem = random_problem(random, shape);
    problem.channel_free = {};
    Problem sent = problem;
    std::erase_if(sent.items, [](const Item& item) { return item.bytes.value == 0; });
    if (sent.items.empty()) {
      continue;
    }
    const auto base = std::get<LinearCost>(problem.cost.base);
    for (int k = 0; k < 32; ++k) {
      CAPTURE(k);
      const LinearCost cost{around(base.startup_s, random), around(base.per_byte_s, random)};
      problem.cost = {.base = cost};
      const std::vector<BestPrefix> best = best_prefixes(sent, cost);
      CHECK(std::max(best.back().finish_s, problem.items.back().ready.value) ==
            make_plan(problem, Schedule::optimal).finish.value);
    }
  }
}
