// The schedule of measured buckets.
#include <doctest/doctest.h>

#include "buckets/plan_problems.hpp"
#include "buckets/planners.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::buckets;
using namespace stepsim::buckets::testing;
using stepsim::testing::within;

TEST_CASE("trace: the measured buckets are the messages, launched in their order") {
  Problem problem = problem_of({1, 2, 3, 4}, {10, 20, 30, 40}, linear(1, 0.1));
  const auto T = [](double bytes) { return 1 + 0.1 * bytes; };
  problem.items[0].bucket = problem.items[2].bucket = 0;
  problem.items[1].bucket = problem.items[3].bucket = 1;
  const Plan plan = make_plan(problem, Schedule::trace);
  CHECK(text_of(plan) == "{1,3}{2,4}");
  CHECK(plan.groups[0].start.value == 3);
  CHECK(plan.finish.value == within(3 + T(10 + 30) + T(20 + 40), 1e-12));
}

TEST_CASE("trace: no bucket is sent before an earlier one is ready") {
  Problem problem = problem_of({1, 2, 3}, {10, 20, 30}, linear(0, 0.1));
  problem.items[0].bucket = 1;
  problem.items[1].bucket = problem.items[2].bucket = 0; // ready at 3
  const Plan plan = make_plan(problem, Schedule::trace);
  CHECK(text_of(plan) == "{2-3}{1}");
  CHECK(plan.finish.value == within(3 + 0.1 * (10 + 20 + 30), 1e-12));
}

TEST_CASE("trace: gradients of 0 bytes need no bucket") {
  Problem problem = problem_of({1, 2, 3}, {10, 0, 30}, linear(0, 0.1));
  problem.items[0].bucket = 0;
  problem.items[2].bucket = 1;
  CHECK(text_of(make_plan(problem, Schedule::trace)) == "{1}{2-3}");
}
