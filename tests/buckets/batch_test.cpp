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

// Costs around that of the problem: both constants from a tenth to ten times, and 0.
struct Costs {
  std::vector<double> startup_s;
  std::vector<double> per_byte_s;
};

Costs costs_around(const Problem& problem, std::size_t count, RandomStream& random) {
  const auto base = std::get<LinearCost>(problem.cost.base);
  const auto factor = [&] {
    return random.integer(0, 9) == 0 ? 0.0 : std::pow(10, random.uniform(-1, 1));
  };
  Costs costs;
  for (std::size_t k = 0; k < count; ++k) {
    costs.startup_s.push_back(base.startup_s * factor());
    costs.per_byte_s.push_back(base.per_byte_s * factor());
  }
  return costs;
}

} // namespace

TEST_CASE("batch: a block of best plans has the choices of one cost at a time") {
  const std::uint64_t seed = 8;
  for (std::uint64_t instance = 0; instance < 200; ++instance) {
    CAPTURE(instance);
    RandomStream random({.seed = seed, .point = instance});
    const RandomShape shape{
        .min_items = 1, .max_items = 40, .empty_items = true, .repeated_ready = true};
    Problem problem = random_problem(random, shape);
    problem.channel_free = {};
    const BatchItems items = batch_items(problem);
    if (items.size() == 0) {
      continue;
    }
    const Costs costs = costs_around(problem, kBatchLanes, random);
    BatchLanes startup;
    BatchLanes per_byte;
    std::copy_n(costs.startup_s.begin(), kBatchLanes, startup.begin());
    std::copy_n(costs.per_byte_s.begin(), kBatchLanes, per_byte.begin());
    OptimalBlock block(items);
    block.run(per_byte, startup); // any numbers before
    block.run(startup, per_byte);
    Problem sent = problem;
    std::erase_if(sent.items, [](const Item& item) { return item.bytes.value == 0; });
    for (std::size_t k = 0; k < kBatchLanes; ++k) {
      CAPTURE(k);
      problem.cost = linear(startup[k], per_byte[k]);
      const std::vector<BestPrefix> best = best_prefixes(sent, {startup[k], per_byte[k]});
      CHECK(std::max(best.back().finish_s, problem.items.back().ready.value) ==
            make_plan(problem, Schedule::optimal).finish.value);
      std::size_t i = items.size();
      for (const BestPrefix* last = &best.back(); i > 0; last = &best[last->back]) {
        CHECK(block.back(i, k) == last->back);
        i = last->back;
      }
    }
  }
}
