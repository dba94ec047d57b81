// DeAR: MER 6.3 and its cases of MER 14 G.
#include <doctest/doctest.h>

#include "buckets/planner_options.hpp"
#include "buckets/planners.hpp"
#include "buckets/schedules.hpp"
#include "buckets/sending.hpp"
#include "buckets/steps.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::buckets;
using namespace stepsim::buckets::testing;
using stepsim::Bytes;
using stepsim::testing::within;

namespace {

const Layers kG3{{1, 2, 1, 1}, {2, 2, 2, 2}, {4, 8, 12, 16}, 0.5, 0.25};

ScheduleOptions bucket(std::int64_t bytes, Prefetch prefetch = Prefetch::all) {
  ScheduleOptions options;
  options.bucket_bytes = Bytes{bytes};
  options.prefetch = prefetch;
  return options;
}

ScheduleOptions layers_per_group(std::int64_t layers) {
  ScheduleOptions options;
  options.dear_layers = layers;
  return options;
}

// Groups with layers numbered from 1 in forward order.
std::string forward_text(const Plan& plan, std::size_t layers) {
  std::string text;
  for (std::size_t g = plan.groups.size(); g-- > 0;) {
    const std::size_t first = layers - plan.groups[g].last();
    const std::size_t last = layers - plan.groups[g].first();
    text += "{" + std::to_string(first) + (first == last ? "" : "-" + std::to_string(last)) + "}";
  }
  return text;
}

std::string groups_of(const ScheduleOptions& options) {
  return forward_text(make_plan(problem_of(kG3), Schedule::dear, options), 4);
}

} // namespace

TEST_CASE("dear: a module joins while the group stays below the threshold (MER G3)") {
  CHECK(groups_of(bucket(16)) == "{1-2}{3}{4}");  // 4 + 8 < 16, + 12 is not
  CHECK(groups_of(bucket(12)) == "{1}{2}{3}{4}"); // 4 + 8 < 12 is false
  CHECK(groups_of(bucket(13)) == "{1-2}{3}{4}");
  CHECK(groups_of(bucket(1)) == "{1}{2}{3}{4}");
  CHECK(groups_of(bucket(41)) == "{1-4}");
  CHECK(groups_of(layers_per_group(1)) == "{1}{2}{3}{4}");
  CHECK(groups_of(layers_per_group(2)) == "{1-2}{3-4}");
  CHECK(groups_of(layers_per_group(3)) == "{1-3}{4}");
  CHECK(groups_of(layers_per_group(9)) == "{1-4}");
}

TEST_CASE("dear: tensors of one layer stay together, as a module") {
  Problem problem = stepsim::buckets::testing::problem_of({1, 1, 2, 2}, {3, 3, 3, 3}, linear(1, 1));
  problem.items[0].layer = problem.items[1].layer = 1;
  CHECK(text_of(make_plan(problem, Schedule::dear, bucket(1))) == "{1-2}{3-4}");
  CHECK(text_of(make_plan(problem, Schedule::dear, bucket(12))) == "{1-2}{3-4}");
  CHECK(text_of(make_plan(problem, Schedule::dear, bucket(13))) == "{1-4}");
  CHECK(text_of(make_plan(problem, Schedule::dear, layers_per_group(1))) == "{1-2}{3-4}");
}

TEST_CASE("dear: reduce-scatters behind backward, all-gathers behind the next forward (MER G3)") {
  // Halves of .5 + .25 m: layers 1..4: 0.75, 1.25, 1.75, 2.25.
  const Step all = step_of(kG3, Schedule::dear, bucket(1));
  REQUIRE(all.times.end_s.size() == 4);
  CHECK(all.times.end_s.back() == 8 + 0.75); // every earlier one ends before backward does
  CHECK(all.done == std::vector<double>{8.75 + 0.75, 9.5 + 1.25, 10.75 + 1.75, 12.5 + 2.25});
  CHECK(all.period == 14.75 + 1);
  // One ahead: all-gather 2 starts when forward reaches layer 1 (9.5), 3 with layer 2 (10.75),
  // 4 with layer 3 (12.75).
  const Step one = step_of(kG3, Schedule::dear, bucket(1, Prefetch::one));
  CHECK(one.done == std::vector<double>{9.5, 9.5 + 1.25, 10.75 + 1.75, 12.75 + 2.25});
  CHECK(one.period == 15 + 1);
  CHECK(step_of(kG3, Schedule::dear, layers_per_group(2)).period == 17.25);
  CHECK(step_of(kG3, Schedule::dear, bucket(1000)).period == 23.5);
  CHECK(step_of(kG3, Schedule::dear, bucket(1000, Prefetch::one)).period == 23.5);
}

TEST_CASE("dear: prefetching all is never later than one ahead; one group is `single`") {
  stepsim::base::RandomStream random({.seed = 41});
  for (int trial = 0; trial < 1000; ++trial) {
    CAPTURE(trial);
    const Layers layers = random_layers(random, 9, true);
    const auto bytes = random.integer(1, 80);
    const Step all = step_of(layers, Schedule::dear, bucket(bytes));
    const Step one = step_of(layers, Schedule::dear, bucket(bytes, Prefetch::one));
    CHECK(all.period <= one.period * (1 + 1e-12));
    for (std::size_t g = 0; g < all.plan.groups.size(); ++g) {
      CHECK(all.times.back_start_s[g] <= one.times.back_start_s[g] * (1 + 1e-12));
    }
    if (layers.bytes.front() > 0) { // else the first layers need not wait for the group
      CHECK(step_of(layers, Schedule::dear, bucket(1'000'000)).period ==
            within(step_of(layers, Schedule::single).period, 1e-12));
    }
  }
}

TEST_CASE("dear: one ahead waits for the slowest of several workers") {
  // Two layers; the first all-gather ends at 4 + 1, the second starts when both workers have
  // reached group 1: at max(5, their backward).
  Sending sending;
  sending.comes_back = true;
  sending.options.prefetch = Prefetch::one;
  sending.forward_s = {1, 2, 1};
  sending.transfers = {{.data_s = 1, .back_s = 1, .first_layer = 2},
                       {.data_s = 1, .back_s = 1, .first_layer = 1}};
  const std::vector<double> ready{1, 3};
  const std::vector<double> starts{3, 7};
  const std::vector<double> factors{1, 2};
  SendTimes times;
  send_dear(
      sending,
      {.ready_s = ready, .backward_end_s = 3, .forward_start_s = starts, .forward_factor = factors},
      times);
  CHECK(times.back_start_s[1] == 4); // after the reduce-scatters
  // The slow worker reaches layer 2 of 3 (group 1) at 7 + 2 * 1.
  CHECK(times.back_start_s[0] == 7 + 2 * 1);
  CHECK(times.finish_s == 10);
}
