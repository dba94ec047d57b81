// A given number of buckets: the most even contiguous division, against all divisions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "buckets/plan_problems.hpp"
#include "buckets/planner_options.hpp"
#include "buckets/planners.hpp"
#include "buckets/schedules.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::buckets;
using namespace stepsim::buckets::testing;
using stepsim::testing::within;

namespace {

Plan plan_in(const Problem& problem, std::int64_t buckets) {
  ScheduleOptions options;
  options.buckets = buckets;
  return make_plan(problem, kFixedCount, options);
}

double squares(const Plan& plan) {
  double sum = 0;
  for (const Group& group : plan.groups) {
    sum += static_cast<double>(group.bytes.value) * static_cast<double>(group.bytes.value);
  }
  return sum;
}

// The least sum of squares of `buckets` contiguous parts of bytes[first..].
double least_squares(const std::vector<double>& bytes, std::size_t first, std::int64_t buckets) {
  double sum = 0;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = first; i < bytes.size(); ++i) {
    sum += bytes[i];
    if (buckets == 1) {
      best = i + 1 == bytes.size() ? sum * sum : best;
    } else if (bytes.size() - i - 1 >= static_cast<std::size_t>(buckets - 1)) {
      best = std::min(best, sum * sum + least_squares(bytes, i + 1, buckets - 1));
    }
  }
  return best;
}

} // namespace

TEST_CASE("fixed_count: sizes 5, 1, 1, 1, 4 in three buckets are 5, 3 and 4") {
  const Problem problem = problem_of({0, 1, 2, 3, 4}, {5, 1, 1, 1, 4}, linear(1, 1e-3));
  CHECK(text_of(plan_in(problem, 3)) == "{1}{2-4}{5}");
  CHECK(text_of(plan_in(problem, 1)) == "{1-5}");
  CHECK(text_of(plan_in(problem, 5)) == "{1}{2}{3}{4}{5}");
  CHECK(text_of(plan_in(problem, 9)) == "{1}{2}{3}{4}{5}");
}

TEST_CASE("fixed_count: no contiguous division into as many buckets is more even") {
  stepsim::base::RandomStream random({.seed = 5});
  for (int round = 0; round < 400; ++round) {
    const auto items = static_cast<std::size_t>(1 + std::floor(random.uniform() * 11));
    std::vector<double> ready, bytes;
    for (std::size_t i = 0; i < items; ++i) {
      ready.push_back(static_cast<double>(i));
      bytes.push_back(1 + std::floor(random.uniform() * (round % 2 == 0 ? 5 : 1e9)));
    }
    const Problem problem = problem_of(ready, bytes, linear(1, 1e-3));
    for (std::int64_t buckets = 1; buckets <= static_cast<std::int64_t>(items) + 1; ++buckets) {
      const auto count = std::min(buckets, static_cast<std::int64_t>(items));
      const Plan plan = plan_in(problem, buckets);
      CAPTURE(round);
      CHECK(plan.groups.size() == static_cast<std::size_t>(count));
      CHECK(squares(plan) == within(least_squares(bytes, 0, count), 1e-12));
    }
  }
}

TEST_CASE("fixed_count: a thousand buckets of ten thousand gradients") {
  std::vector<double> ready(10000, 0), bytes(10000, 3);
  const Plan plan = plan_in(problem_of(ready, bytes, linear(1, 1e-3)), 1000);
  CHECK(plan.groups.size() == 1000);
  CHECK(std::ranges::all_of(plan.groups, [](const Group& g) { return g.bytes.value == 30; }));
}
