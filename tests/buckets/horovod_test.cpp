#include <doctest/doctest.h>

#include "buckets/plan_problems.hpp"
#include "buckets/planner_options.hpp"
#include "buckets/planners.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::buckets;
using namespace stepsim::buckets::testing;
using stepsim::Bytes;
using stepsim::Seconds;
using stepsim::testing::Tolerance;
using stepsim::testing::within;

namespace {

constexpr double kMs = 1e-3;

// Five layers; T(m) = 1 ms + 1 ns per byte.
Problem five_layers() {
  return problem_of({2e-3, 5e-3, 6e-3, 10e-3, 12e-3}, {4e6, 1e5, 2e5, 1e6, 4e4},
                    linear(1e-3, 1e-9));
}

ScheduleOptions options_of(double cycle_s, std::int64_t fusion_bytes, bool blocking = false) {
  ScheduleOptions options;
  options.cycle = Seconds{cycle_s};
  options.fusion_bytes = Bytes{fusion_bytes};
  options.blocking = blocking;
  return options;
}

Plan horovod(const Problem& problem, const ScheduleOptions& options) {
  return make_plan(problem, Schedule::horovod, options);
}

Tolerance ms(double value) { return within(value * kMs, 1e-9); }

constexpr std::int64_t kMiB = 1024 * 1024;

} // namespace

TEST_CASE("horovod: messages leave at ticks of the cycle, or when the channel is free") {
  const Plan plan = horovod(five_layers(), options_of(5e-3, 64 * kMiB));
  REQUIRE(text_of(plan) == "{1-2}{3-4}{5}");
  CHECK(plan.groups[0].start.value == ms(5));
  CHECK(plan.groups[1].ready.value == ms(10));
  CHECK(plan.groups[1].start.value == ms(5 + 1 + 4.1)); // channel
  CHECK(plan.groups[2].start.value == ms(15));
  CHECK(plan.finish.value == ms(15 + 1 + 0.04));
}

TEST_CASE("horovod, blocking: the next tick waits for the operation") {
  const Plan plan = horovod(five_layers(), options_of(5e-3, 64 * kMiB, true));
  // ends at 10.1 = next tick; {3-4} there ends at 12.3, the tick after at 15.1
  CHECK(text_of(plan) == "{1-2}{3-4}{5}");
  CHECK(plan.groups[2].start.value == ms(10.1 + 5));
  CHECK(plan.finish.value == ms(10.1 + 5 + 1.04));
}

TEST_CASE("horovod, blocking: only the channel says when the last message has ended") {
  const Plan plan = horovod(five_layers(), options_of(1e-3, 0, true));
  CHECK(plan.groups[0].start.value == ms(2));
  CHECK(plan.groups[1].ready.value == ms(5)); // its gradient, in whatever time {1} takes in a run
  CHECK(plan.groups[1].start.value == ms(2 + 1 + 4));
}

TEST_CASE("horovod: the crossing tensor opens the next message") {
  CHECK(text_of(horovod(five_layers(), options_of(5e-3, 4'000'000))) == "{1}{2}{3-4}{5}");
  CHECK(horovod(five_layers(), options_of(5e-3, 4'000'000)).finish.value == ms(16.04));
  CHECK(horovod(five_layers(), options_of(5e-3, 4'000'000, true)).finish.value == ms(17.14));
  // a tensor above the threshold travels alone
  CHECK(text_of(horovod(five_layers(), options_of(5e-3, 1'300'000))) == "{1}{2}{3-4}{5}");
}

TEST_CASE("horovod: no fusion, short cycles, one long cycle, no cycle") {
  CHECK(horovod(five_layers(), options_of(5e-3, 0)).groups.size() == 5);
  CHECK(horovod(five_layers(), options_of(5e-3, 0)).finish.value == ms(16.04));
  CHECK(horovod(five_layers(), {}).finish.value == ms(13.04)); // defaults: 1 ms, 128 MiB
  const Plan late = horovod(five_layers(), options_of(20e-3, 128 * kMiB));
  CHECK(late.groups.size() == 1);
  CHECK(late.finish.value == ms(20 + 1 + 5.34));
  CHECK(horovod(five_layers(), options_of(0, 128 * kMiB)).finish.value == ms(13.04));
  const Plan blocking = horovod(five_layers(), options_of(0, 128 * kMiB, true));
  CHECK(text_of(blocking) == "{1}{2-3}{4}{5}");
  CHECK(blocking.finish.value == ms(13.04));
}

TEST_CASE("horovod: the phase shifts the first tick") {
  ScheduleOptions options = options_of(5e-3, 128 * kMiB);
  options.phase = Seconds{1e-3}; // ticks 1, 6, 11, 16 ms
  const Plan plan = horovod(five_layers(), options);
  REQUIRE(text_of(plan) == "{1-3}{4}{5}");
  CHECK(plan.groups[0].start.value == ms(6));
  CHECK(plan.groups[1].start.value == ms(6 + 1 + 4.3));
  CHECK(plan.groups[2].start.value == ms(16));
}

TEST_CASE("horovod: a gradient that is ready at a tick is taken there, whatever the rounding") {
  // 0.1 + 0.2 is a little more than 0.3 in binary, 3 cycles of 0.1 too; neither may cost a cycle.
  const double ready = 0.1 + 0.2;
  CHECK(horovod(problem_of({ready}, {1}, linear(1, 0)), options_of(0.3, kMiB))
            .groups[0]
            .start.value == within(0.3, 1e-9));
  for (int cycles = 1; cycles < 1000; ++cycles) {
    double sum = 0;
    for (int i = 0; i < cycles; ++i) {
      sum += 0.001;
    }
    const Plan plan = horovod(problem_of({sum}, {1}, linear(1, 0)), options_of(0.001, kMiB));
    CHECK(plan.groups[0].start.value == within(0.001 * cycles, 1e-9));
    CHECK(plan.groups[0].start.value >= sum);
  }
}

TEST_CASE("horovod: other dtypes are skipped over while everything passed would still fit") {
  Problem problem = problem_of({1, 1, 1, 1}, {10, 20, 10, 20}, linear(1, 0));
  problem.items[1].dtype = 1;
  problem.items[3].dtype = 1;
  // 10 + skipped 20 fits in 100, so item 3 joins item 1; then 2 and 4
  CHECK(text_of(horovod(problem, options_of(1, 100))) == "{1,3}{2,4}");
  // 10 + skipped 20 > 29: the message is closed at once, in order
  CHECK(text_of(horovod(problem, options_of(1, 29))) == "{1}{2}{3}{4}");
  // 10 + 20 = 30 is passed; then 10 + 10 joins; then {2} + 20 > 30
  CHECK(text_of(horovod(problem, options_of(1, 30))) == "{1,3}{2}{4}");
}

TEST_CASE("horovod: empty items are put back beside the next item with bytes, across dtypes") {
  Problem problem = problem_of({1, 1, 1, 1, 1}, {10, 0, 20, 0, 10}, linear(1, 0));
  problem.items[2].dtype = 1;
  CHECK(text_of(horovod(problem, options_of(1, 100))) == "{1,4-5}{2-3}");
}
